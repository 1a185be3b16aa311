# Addresses, undefined behaviour and libFuzzer's coverage for all that follows.
# LLVM's own archives are built without.
set(sanitizers -fsanitize=address,undefined,fuzzer-no-link
    -fno-sanitize-recover=all)
add_compile_options(${sanitizers} -gline-tables-only -fno-omit-frame-pointer)
add_compile_definitions(_GLIBCXX_ASSERTIONS)
add_link_options(${sanitizers})
