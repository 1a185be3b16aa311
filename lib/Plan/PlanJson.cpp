//===- PlanJson.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::plan;

static constexpr const char *schema = "autopar.plan/1";

//===----------------------------------------------------------------------===//
// Names of axes, and meshes as text
//===----------------------------------------------------------------------===//

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Returns the reason why `name` cannot name an axis or a degree; "" if it can.
/// Some names are keys of a report's `mesh`.
static std::string refuseName(const std::string &name) {
  bool identifier = !name.empty() && name.size() <= 32 && isLetter(name[0]);
  for (char c : name)
    identifier &= isLetter(c) || (c >= '0' && c <= '9');
  if (!identifier)
    return "axis name '" + shorten(name) +
           "' is not an identifier of 1 to 32 letters, digits and '_'";
  if (name == "devices" || name == "axes" || name == "experts_per_device")
    return "axis name '" + name + "' is reserved";
  return "";
}

/// Returns the reason why `axes` is not a mesh; "" if it is. A mesh has at most
/// `limits::maxDevices` devices.
static std::string refuseMesh(const std::vector<PlanAxis> &axes) {
  Checked devices = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::string why = refuseName(axes[i].name); !why.empty())
      return why;
    for (size_t j = 0; j < i; ++j)
      if (axes[j].name == axes[i].name)
        return "axis '" + axes[i].name + "' is given twice";
    devices *= axes[i].size.value_or(1);
    if (!devices.valid() || devices > limits::maxDevices)
      return "the mesh has more than " + formatInteger(limits::maxDevices) +
             " devices";
  }
  return "";
}

/// Parses the size of an axis: "8", or "?" for an open size. Returns whether
/// `text` is one of these.
static bool parseSize(std::string_view text, std::optional<int64_t> &size) {
  if (text == "?")
    return true;
  if (text.empty() || text.size() > 18)
    return false;
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      return false;
    value = value * 10 + (c - '0');
  }
  size = value;
  return value >= 1 && value <= limits::maxDevices;
}

/// Parses `name=8`, `name=?` or `name=axis*axis` into `mesh`. Returns the
/// error; "" if there is none.
static std::string parsePart(std::string_view part, MeshPlan &mesh) {
  size_t equals = part.find('=');
  std::string name(part.substr(0, equals));
  if (equals == std::string_view::npos)
    return "mesh axis '" + shorten(part) + "' has no '=size'";
  std::string_view value = part.substr(equals + 1);
  if (value.empty() || !isLetter(value[0])) {
    PlanAxis &axis = mesh.axes.emplace_back();
    axis.name = std::move(name);
    if (parseSize(value, axis.size))
      return "";
    return "size of mesh axis '" + shorten(axis.name) +
           "' is not an integer from 1 to " +
           std::to_string(limits::maxDevices) + " or '?', found '" +
           shorten(value) + "'";
  }
  PlanDegree &degree = mesh.degrees.emplace_back();
  degree.name = std::move(name);
  for (size_t begin = 0; begin <= value.size();) {
    size_t end = std::min(value.find('*', begin), value.size());
    degree.axes.emplace_back(value.substr(begin, end - begin));
    if (std::string why = refuseName(degree.axes.back()); !why.empty())
      return why;
    begin = end + 1;
  }
  return refuseName(degree.name);
}

Result<MeshPlan> autopar::plan::parseMesh(std::string_view text) {
  const char *note =
      "write axes outermost first, then products of them, as in 'pp=4,tp=8' "
      "or 'dpo=2,dpi=8,tp=8,ep=dpi*tp'; '?' leaves a size open";
  MeshPlan mesh;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string why = parsePart(text.substr(begin, end - begin), mesh);
    if (!why.empty())
      return Error{"", std::move(why), note};
    begin = end + 1;
  }
  if (std::string why = refuseMesh(mesh.axes); !why.empty())
    return Error{"", std::move(why), note};
  for (size_t i = 0; i < mesh.degrees.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (mesh.degrees[i].name == mesh.degrees[j].name)
        return Error{"", "degree '" + mesh.degrees[i].name + "' is given twice",
                     note};
  return mesh;
}

std::string autopar::plan::meshText(const Plan &plan) {
  std::vector<std::string> parts;
  for (const PlanAxis &axis : plan.axes)
    parts.push_back(axis.name + "=" +
                    (axis.size ? std::to_string(*axis.size) : "?"));
  for (const PlanDegree &degree : plan.degrees)
    if (!degree.axes.empty())
      parts.push_back(degree.name + "=" + join(degree.axes, "*"));
  return join(parts, ",");
}

//===----------------------------------------------------------------------===//
// Reading plans
//===----------------------------------------------------------------------===//

static void readAxes(const JsonReader &root, Plan &plan) {
  JsonReader list = root.array("axes");
  for (const JsonReader &entry : list.elements()) {
    entry.allowOnly({"name", "size"});
    PlanAxis axis;
    axis.name = entry.string("name");
    axis.size = entry.optionalInteger("size", 1, limits::maxDevices);
    plan.axes.push_back(std::move(axis));
    if (root.failed())
      return;
  }
  if (std::string why = refuseMesh(plan.axes); !why.empty())
    list.fail(std::move(why));
}

static void readDegree(const std::string &name, const JsonReader &entry,
                       Plan &plan) {
  PlanDegree degree{name, {}};
  if (std::string why = refuseName(name); !why.empty())
    return entry.fail(std::move(why));
  if (plan.axis(name))
    return entry.fail("degree '" + name + "' has the name of an axis");
  if (!entry.isArray())
    return entry.fail("expected an array of axis names");
  for (const JsonReader &element : entry.elements()) {
    std::string axis = element.asString();
    if (entry.failed())
      return;
    if (!plan.axis(axis)) {
      std::vector<std::string> known;
      for (const PlanAxis &other : plan.axes)
        known.push_back(other.name);
      return element.fail("the plan has no axis '" + shorten(axis) + "'",
                          "axes: " + join(known, ", "));
    }
    if (std::find(degree.axes.begin(), degree.axes.end(), axis) !=
        degree.axes.end())
      return element.fail("axis '" + axis + "' is given twice");
    degree.axes.push_back(std::move(axis));
  }
  plan.degrees.push_back(std::move(degree));
}

static void readDegrees(const JsonReader &root, Plan &plan) {
  if (root.has("degrees"))
    for (const auto &[name, entry] : root.object("degrees").members())
      if (!root.failed())
        readDegree(name, entry, plan);
  if (root.failed())
    return;
  if (std::optional<Error> error = completeDegrees(plan))
    root.failAt(root.has("degrees") ? "degrees" : "axes", error->message,
                error->note);
}

/// Splits a key such as "pipeline.stages" into "pipeline" and "stages"; the
/// first part is "" for a key without a dot.
static std::pair<std::string_view, std::string_view>
splitKey(std::string_view key) {
  size_t dot = key.find('.');
  return dot == std::string_view::npos
             ? std::pair(std::string_view(), key)
             : std::pair(key.substr(0, dot), key.substr(dot + 1));
}

/// Reads the knobs that are members of `object`, which is the member `group` of
/// the plan. Other members are refused, except those in `more`.
static void readKnobs(const JsonReader &object, std::string_view group,
                      std::vector<std::string_view> more, Plan &plan) {
  for (const PlanKnob &knob : planKnobs())
    if (auto [parent, name] = splitKey(knob.key); parent == group)
      more.push_back(name);
  object.allowOnly(more);
  for (const PlanKnob &knob : planKnobs())
    if (auto [parent, name] = splitKey(knob.key);
        parent == group && !object.failed())
      knob.read(object, name, plan);
}

Result<Plan> autopar::plan::readPlan(const JsonDocument &document) {
  JsonReader root = document.reader();
  Plan plan;
  std::string found = root.string("schema");
  if (!root.failed() && found != schema)
    root.failAt("schema", "expected \"" + std::string(schema) + "\", found \"" +
                              shorten(found) + "\"");
  if (root.has("axes"))
    readAxes(root, plan);
  readDegrees(root, plan);
  readKnobs(
      root, "",
      {"schema", "axes", "degrees", "pipeline", "training", "expert_placement"},
      plan);
  if (root.has("pipeline"))
    readKnobs(root.object("pipeline"), "pipeline", {}, plan);
  if (root.has("training"))
    readKnobs(root.object("training"), "training", {}, plan);
  if (root.has("expert_placement")) {
    plan.expertPlacement.emplace();
    readKnobs(root.object("expert_placement"), "expert_placement", {}, plan);
  }
  if (root.failed())
    return root.takeError();
  return plan;
}

//===----------------------------------------------------------------------===//
// Writing plans
//===----------------------------------------------------------------------===//

std::string autopar::plan::writePlan(const Plan &plan) {
  nlohmann::ordered_json root, axes = nlohmann::ordered_json::array();
  root["schema"] = schema;
  for (const PlanAxis &axis : plan.axes) {
    nlohmann::ordered_json entry{{"name", axis.name}};
    if (axis.size)
      entry["size"] = *axis.size;
    axes.push_back(std::move(entry));
  }
  root["axes"] = std::move(axes);
  for (const PlanDegree &degree : plan.degrees)
    root["degrees"][degree.name] = degree.axes;
  for (const PlanKnob &knob : planKnobs()) {
    auto [group, name] = splitKey(knob.key);
    if (group == "expert_placement" && plan.expertPlacement)
      root.emplace(group, nlohmann::ordered_json::object());
    if (nlohmann::ordered_json value = knob.write(plan); !value.is_null())
      (group.empty() ? root : root[std::string(group)])[std::string(name)] =
          std::move(value);
  }
  return root.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}
