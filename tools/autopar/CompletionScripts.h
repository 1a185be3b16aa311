//===- CompletionScripts.h - Scripts for bash and zsh -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_COMPLETIONSCRIPTS_H
#define AUTOPAR_TOOLS_AUTOPAR_COMPLETIONSCRIPTS_H

namespace autopar {

/// The script for bash, which splits words at "=". The script therefore joins
/// --flag=value again, and keeps only the part of the answers after "=".
inline constexpr char bashScript[] = R"(# bash completion of autopar
_autopar() {
  local line=${COMP_LINE:0:COMP_POINT} word answer words=() current
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  COMPREPLY=()
  while IFS= read -r answer; do
    if [[ $answer == "<file>" ]]; then
      word=${current##*=}
      while IFS= read -r answer; do
        COMPREPLY+=("$answer")
      done < <(compgen -f -- "$word")
      compopt -o filenames 2>/dev/null
    else
      [[ $current == *=* && $COMP_WORDBREAKS == *=* ]] && answer=${answer#*=}
      COMPREPLY+=("$answer")
    fi
  done < <("${words[0]}" completion words "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] &&
    compopt -o nospace 2>/dev/null
  return 0
}
complete -F _autopar autopar
)";

inline constexpr char zshScript[] = R"(#compdef autopar
_autopar() {
  local -a answers open closed
  answers=("${(@f)$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local answer wants_files
  for answer in $answers; do
    case $answer in
      '<file>') wants_files=1 ;;
      *=) open+=($answer) ;;
      ?*) closed+=($answer) ;;
    esac
  done
  [[ -z $open ]] || compadd -S '' -- $open
  [[ -z $closed ]] || compadd -- $closed
  [[ -z $wants_files ]] || { compset -P '--*='; _files }
}
if [[ $funcstack[1] == _autopar ]]; then
  _autopar "$@"
else
  compdef _autopar autopar
fi
)";

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_COMPLETIONSCRIPTS_H
