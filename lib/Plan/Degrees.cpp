//===- Degrees.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

/// How many working values an error lists, at most, below and above the
/// requested value.
static constexpr size_t listedValues = 8;

static std::string text(int64_t value) { return std::to_string(value); }

//===----------------------------------------------------------------------===//
// Checks of the numbers
//===----------------------------------------------------------------------===//

using NamedDegree = std::pair<Degree, std::optional<int64_t>>;

static std::array<NamedDegree, 8> listDegrees(const Degrees &degrees) {
  return {{{Degree::tp, degrees.tp},
           {Degree::cp, degrees.cp},
           {Degree::dp, degrees.dp},
           {Degree::ep, degrees.ep},
           {Degree::etp, degrees.etp},
           {Degree::dcp, degrees.dcp},
           {Degree::attention_tp, degrees.attentionTp},
           {Degree::fsdp, degrees.fsdp}}};
}

/// Returns whether a degree may be only a part of an axis, whose size then
/// tells where it is cut.
static bool cutsAxes(const Degrees &degrees) {
  return degrees.ep || degrees.dcp || degrees.attentionTp || degrees.fsdp;
}

static std::optional<Error> checkRanges(const Degrees &degrees) {
  Checked devices = 1;
  for (auto [degree, value] : listDegrees(degrees))
    if (value && *value != openDegree &&
        (*value < 1 || *value > limits::maxDevices))
      return Error{"",
                   std::string(nameOf(degree)) + " = " + text(*value) +
                       ": expected a number of devices from 1 to " +
                       text(limits::maxDevices),
                   ""};
  for (auto value : {degrees.tp, degrees.cp, degrees.dp})
    if (value && *value != openDegree)
      devices *= *value;
  if (devices > limits::maxDevices)
    return Error{"",
                 "tp*cp*dp = " + devices.str() + " is more than " +
                     formatInteger(limits::maxDevices) + " devices",
                 ""};
  return std::nullopt;
}

/// Refuses degrees without the degree that they are a part of, and axes of
/// unknown size that would have to be cut.
static std::optional<Error> checkGiven(const Degrees &degrees) {
  if (degrees.etp && !degrees.ep)
    return Error{"",
                 "etp splits the matrices of each expert beside ep: it needs "
                 "ep",
                 "give --shard-ep=N as well; without ep, experts are split by "
                 "tp"};
  for (auto [degree, value] : {NamedDegree{Degree::dcp, degrees.dcp},
                               {Degree::attention_tp, degrees.attentionTp}})
    if (value && !degrees.tp)
      return Error{
          "", std::string(nameOf(degree)) + " is a part of tp: it needs tp",
          "give --shard-tp=N as well"};
  if (degrees.fsdp && !degrees.dp && !degrees.cp)
    return Error{"", "fsdp is a part of dp*cp: it needs dp or cp",
                 "give --shard-dp=N as well"};
  if (!cutsAxes(degrees))
    return std::nullopt;
  for (auto [degree, value] : listDegrees(degrees))
    if (value == openDegree)
      return Error{
          "",
          std::string(nameOf(degree)) +
              " = ?: with ep, dcp, attention_tp or fsdp all sizes must be "
              "numbers, which say how the axes are cut",
          "to leave sizes open, name the axes: "
          "--mesh=dpo=?,dpi=?,tp=?,ep=dpi*tp"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Cutting axes into parts
//===----------------------------------------------------------------------===//

namespace {

/// The degrees that the others cut, innermost first.
constexpr std::array<Degree, 3> bases = {Degree::tp, Degree::cp, Degree::dp};

/// A border inside a base degree (tp, cp or dp), `at` devices from the
/// innermost device. If two borders meet, `rank` decides which of them is the
/// inner one, whatever the sizes are.
struct Cut {
  enum Rank { decodeContext, expertTensor, attentionTensor, expert, replicas };
  Rank rank;
  size_t base;
  int64_t at;
  /// The product of degrees as messages show it: "etp*ep".
  const char *product;
};

/// Collects the cuts one after the other; each is checked against the earlier
/// ones.
class MeshBuilder {
public:
  explicit MeshBuilder(const Degrees &degrees)
      : degrees(degrees),
        present{degrees.tp.has_value(), degrees.cp.has_value(),
                degrees.dp.has_value()},
        ends{1, degrees.tp.value_or(1), 1, 1} {
    ends[2] = ends[1] * degrees.cp.value_or(1);
    ends[3] = ends[2] * degrees.dp.value_or(1);
  }

  Result<MeshPlan> build();

private:
  std::optional<Error> addCuts();
  std::optional<Error> add(const char *flag, int64_t value,
                           const std::function<Cut(int64_t)> &cutOf);
  std::string refuse(const Cut &cut) const;
  std::string listWorking(const char *flag, int64_t value, int64_t whole,
                          const std::function<Cut(int64_t)> &cutOf) const;
  Cut cutExperts(int64_t at) const;
  Cut cutExpertTensor(int64_t at) const;
  Cut cutReplicas(int64_t at) const;
  void addAxes(size_t base);
  void addDegree(Degree degree, size_t begin, size_t end);
  size_t placeOf(Cut::Rank rank, size_t otherwise) const;

  const Degrees &degrees;
  /// Which base degrees have axes (`present`), and where they lie (`ends`):
  /// base i extends from ends[i] to ends[i + 1].
  std::array<bool, 3> present;
  std::array<int64_t, 4> ends;
  std::vector<Cut> cuts;
  /// The axes, innermost first, and for each cut the number of axes inside it.
  std::vector<PlanAxis> axes;
  std::vector<std::pair<Cut::Rank, size_t>> places;
  MeshPlan mesh;
};

} // namespace

Cut MeshBuilder::cutExperts(int64_t at) const {
  size_t base = at >= ends[2] ? 2 : at >= ends[1] ? 1 : 0;
  return {Cut::expert, base, at, "etp*ep"};
}

Cut MeshBuilder::cutExpertTensor(int64_t at) const {
  size_t base = at <= ends[1] ? 0 : at <= ends[2] ? 1 : 2;
  return {Cut::expertTensor, base, at, "etp"};
}

Cut MeshBuilder::cutReplicas(int64_t at) const {
  return {Cut::replicas, at >= ends[2] ? 2U : 1U, at, "tp*fsdp"};
}

/// Returns the reason why `cut` conflicts with the earlier cuts; "" if it does
/// not. Neighbouring cuts must divide each other.
std::string MeshBuilder::refuse(const Cut &cut) const {
  static constexpr std::array<const char *, 4> products = {"1", "tp", "tp*cp",
                                                           "tp*cp*dp"};
  int64_t inner = ends[cut.base], outer = ends[cut.base + 1];
  std::string subject = cut.rank == Cut::expert ? "etp*ep = " + text(cut.at)
                        : cut.rank == Cut::replicas
                            ? "tp*fsdp = " + text(cut.at)
                            : "it";
  std::string whole = std::string(products[cut.base + 1]) + " = " + text(outer);
  bool ofExperts = cut.rank == Cut::expert || cut.rank == Cut::expertTensor;
  if (ofExperts && ends[3] % cut.at != 0)
    return "experts need etp*ep*edp = tp*cp*dp = " + text(ends[3]) + " devices";
  if (cut.at % inner != 0)
    return subject + " must be a multiple of " + products[cut.base] + " = " +
           text(inner) + " and divide " + whole;
  if (outer % cut.at != 0)
    return subject + " must divide " + whole;
  for (const Cut &other : cuts) {
    int64_t low = std::min(cut.at, other.at), high = std::max(cut.at, other.at);
    bool inside =
        cut.rank == Cut::decodeContext && other.rank == Cut::attentionTensor;
    bool stands = high % low == 0 && (!inside || cut.at == low);
    if (other.base == cut.base && !stands)
      return subject +
             (inside ? " must divide " : " must divide or be a multiple of ") +
             other.product + " = " + text(other.at) + ", a part of " + whole;
  }
  return "";
}

static std::vector<int64_t> divisorsOf(int64_t value) {
  std::vector<int64_t> low, high;
  for (int64_t i = 1; i <= value / i; ++i)
    if (value % i == 0) {
      low.push_back(i);
      if (i != value / i)
        high.push_back(value / i);
    }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// Returns a text with the working values nearest to `value`: "; ep that works:
/// 1, 2, 4".
std::string
MeshBuilder::listWorking(const char *flag, int64_t value, int64_t whole,
                         const std::function<Cut(int64_t)> &cutOf) const {
  std::vector<int64_t> below, above;
  for (int64_t other : divisorsOf(whole))
    if (refuse(cutOf(other)).empty())
      (other < value ? below : above).push_back(other);
  std::vector<std::string> listed;
  if (below.size() > listedValues) {
    listed.push_back("...");
    below.erase(below.begin(), below.end() - listedValues);
  }
  bool more = above.size() > listedValues;
  above.resize(std::min(above.size(), listedValues));
  below.insert(below.end(), above.begin(), above.end());
  for (int64_t other : below)
    listed.push_back(text(other));
  if (more)
    listed.push_back("...");
  return std::string("; ") + flag + " that works: " + join(listed, ", ");
}

std::optional<Error>
MeshBuilder::add(const char *flag, int64_t value,
                 const std::function<Cut(int64_t)> &cutOf) {
  Cut cut = cutOf(value);
  std::string why = refuse(cut);
  if (!why.empty())
    return Error{"",
                 std::string(flag) + " = " + text(value) + ": " + why +
                     listWorking(flag, value, ends[3], cutOf),
                 ""};
  present[cut.base] = true;
  cuts.push_back(cut);
  return std::nullopt;
}

std::optional<Error> MeshBuilder::addCuts() {
  int64_t etp = degrees.etp.value_or(1);
  std::optional<Error> error;
  if (etp > 1)
    error = add("etp", etp, [&](int64_t at) { return cutExpertTensor(at); });
  if (degrees.ep && !error)
    error = add("ep", *degrees.ep,
                [&](int64_t ep) { return cutExperts(ep * etp); });
  if (degrees.attentionTp && !error)
    error = add("attention_tp", *degrees.attentionTp, [](int64_t at) {
      return Cut{Cut::attentionTensor, 0, at, "attention_tp"};
    });
  if (degrees.dcp && !error)
    error = add("dcp", *degrees.dcp, [](int64_t at) {
      return Cut{Cut::decodeContext, 0, at, "dcp"};
    });
  if (degrees.fsdp && !error)
    error = add("fsdp", *degrees.fsdp,
                [&](int64_t fsdp) { return cutReplicas(fsdp * ends[1]); });
  return error;
}

//===----------------------------------------------------------------------===//
// Making the axes and degrees of a mesh
//===----------------------------------------------------------------------===//

/// Returns the name of one of `count` parts of a degree; `index` counts from
/// the innermost part.
static std::string partOf(Degree degree, size_t index, size_t count) {
  std::string base(nameOf(degree));
  static constexpr std::array<const char *, 4> suffixes = {"", "", "io", "imo"};
  if (count == 1)
    return base;
  if (count < suffixes.size())
    return base + suffixes[count][index];
  return base + std::to_string(count - 1 - index);
}

void MeshBuilder::addAxes(size_t base) {
  std::vector<Cut> inside;
  std::copy_if(cuts.begin(), cuts.end(), std::back_inserter(inside),
               [&](const Cut &cut) { return cut.base == base; });
  std::sort(inside.begin(), inside.end(), [](const Cut &a, const Cut &b) {
    return std::tie(a.at, a.rank) < std::tie(b.at, b.rank);
  });
  int64_t begin = ends[base];
  for (size_t i = 0; i <= inside.size(); ++i) {
    int64_t end = i < inside.size() ? inside[i].at : ends[base + 1];
    axes.push_back({partOf(bases[base], i, inside.size() + 1), end / begin});
    if (i < inside.size())
      places.emplace_back(inside[i].rank, axes.size());
    begin = end;
  }
}

size_t MeshBuilder::placeOf(Cut::Rank rank, size_t otherwise) const {
  for (auto [other, place] : places)
    if (other == rank)
      return place;
  return otherwise;
}

/// Adds a degree over the axes from `begin` to `end`, which count from the
/// innermost axis.
void MeshBuilder::addDegree(Degree degree, size_t begin, size_t end) {
  PlanDegree &product = mesh.degrees.emplace_back();
  product.name = nameOf(degree);
  while (end > begin)
    product.axes.push_back(axes[--end].name);
}

Result<MeshPlan> MeshBuilder::build() {
  if (std::optional<Error> error = addCuts())
    return *error;
  size_t tensorAxes = 0;
  for (size_t base = 0; base < bases.size(); ++base) {
    size_t begin = axes.size();
    if (!present[base])
      continue;
    addAxes(base);
    addDegree(bases[base], begin, axes.size());
    if (bases[base] == Degree::tp)
      tensorAxes = axes.size();
  }
  if (degrees.ep) {
    size_t inner = placeOf(Cut::expertTensor, 0);
    size_t outer = placeOf(Cut::expert, 0);
    addDegree(Degree::ep, inner, outer);
    addDegree(Degree::etp, 0, inner);
    addDegree(Degree::edp, outer, axes.size());
  }
  if (degrees.dcp)
    addDegree(Degree::dcp, 0, placeOf(Cut::decodeContext, 0));
  if (degrees.attentionTp)
    addDegree(Degree::attention_tp, 0, placeOf(Cut::attentionTensor, 0));
  if (degrees.fsdp)
    addDegree(Degree::fsdp, tensorAxes, placeOf(Cut::replicas, tensorAxes));
  mesh.axes.assign(axes.rbegin(), axes.rend());
  return std::move(mesh);
}

/// Makes a mesh of base degrees only, whose sizes may be open.
static MeshPlan planBases(const Degrees &degrees) {
  MeshPlan mesh;
  for (auto [degree, value] : {NamedDegree{Degree::dp, degrees.dp},
                               {Degree::cp, degrees.cp},
                               {Degree::tp, degrees.tp}}) {
    if (!value)
      continue;
    std::string name(nameOf(degree));
    mesh.axes.push_back({name, *value == openDegree ? std::nullopt : value});
    mesh.degrees.insert(mesh.degrees.begin(), {name, {name}});
  }
  return mesh;
}

Result<MeshPlan> autopar::plan::planMesh(const Degrees &degrees) {
  if (std::optional<Error> error = checkRanges(degrees))
    return *error;
  if (std::optional<Error> error = checkGiven(degrees))
    return *error;
  if (!cutsAxes(degrees))
    return planBases(degrees);
  return MeshBuilder(degrees).build();
}
