//===- WriteTargets.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/WriteTargets.h"

#include "autopar/Launch/Yaml.h"
#include "autopar/Support/Shell.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <cctype>

using namespace autopar;
using namespace autopar::launch;
using nlohmann::ordered_json;

static constexpr std::pair<std::string_view, TargetKind> kinds[] = {
    {"command", TargetKind::command},
    {"slurm", TargetKind::slurm},
    {"compose", TargetKind::compose},
    {"kubernetes", TargetKind::kubernetes},
    {"dynamo", TargetKind::dynamo}};

std::string_view autopar::launch::nameOf(TargetKind kind) {
  for (auto [name, one] : kinds)
    if (one == kind)
      return name;
  return "";
}

std::optional<TargetKind>
autopar::launch::parseTargetKind(std::string_view name) {
  for (auto [one, kind] : kinds)
    if (one == name)
      return kind;
  return std::nullopt;
}

std::string autopar::launch::targetKindNames() {
  std::vector<std::string_view> names;
  for (auto [name, kind] : kinds)
    names.push_back(name);
  return join(names, ", ");
}

namespace {

/// The port of the first server of a node; further servers have the next ports.
constexpr int64_t firstPort = 8000;

/// Writes the files that start one launch.
class TargetWriter {
public:
  TargetWriter(const LaunchTable &table, const WrittenLaunch &written,
               const TargetRequest &request)
      : table(table), written(written), request(request) {}

  Result<std::vector<LaunchFile>> write();

private:
  std::optional<Error> writeCommands();
  LaunchFile writeShell() const;
  LaunchFile writeSlurm() const;
  LaunchFile writeCompose() const;
  LaunchFile writeKubernetes() const;
  LaunchFile writeDynamo() const;

  int64_t nodes() const { return int64_t(written.nodes.size()); }
  /// Returns the number of nodes of an instance on which a command is started.
  int64_t starts() const { return int64_t(commands.size()); }
  int64_t copies() const { return written.launch.copies; }
  int64_t devicesOfNode() const {
    return std::min(written.launch.devices, request.devicesPerNode);
  }
  /// Returns the number of instances that share a node: as many as the node has
  /// devices for, and the same number on each node, so that no node asks for
  /// devices that it does not use.
  int64_t copiesPerNode() const {
    int64_t shared =
        nodes() > 1 ? 1 : request.devicesPerNode / written.launch.devices;
    shared = std::clamp<int64_t>(shared, 1, copies());
    while (copies() % shared)
      --shared;
    return shared;
  }
  std::string comment() const;
  std::string name() const;
  std::string image() const;
  std::string commandOfCopy(int64_t copy, int64_t node) const;
  std::string scriptOfPods() const;
  ordered_json container(const std::string &script) const;
  ordered_json pod(const std::string &script) const;

  const LaunchTable &table;
  const WrittenLaunch &written;
  const TargetRequest &request;
  /// The command on each node.
  std::vector<LaunchCommand> commands;
};

} // namespace

/// Returns the command that made the files as a comment, so that it can be run
/// again.
std::string TargetWriter::comment() const {
  return request.question.empty() ? "" : "# " + request.question + "\n";
}

/// Returns a name for jobs and pods, which has only letters that DNS allows.
std::string TargetWriter::name() const {
  const std::string &model = written.launch.model;
  std::string text = lower(model.substr(model.rfind('/') + 1));
  for (char &letter : text)
    if (!std::isalnum(static_cast<unsigned char>(letter)))
      letter = '-';
  return text.substr(0, 50);
}

std::string TargetWriter::image() const {
  std::string text = table.images.empty() ? table.name : table.images.front();
  std::string version = written.launch.version;
  if (version.empty())
    version = written.launch.tableVersion;
  // Tags of images have three numbers: version 0.33 is released as 0.33.0.
  if (std::count(version.begin(), version.end(), '.') == 1)
    version += ".0";
  static constexpr std::string_view placeholder = "{version}";
  if (size_t at = text.find(placeholder); at != std::string::npos)
    text.replace(at, placeholder.size(), version);
  return text;
}

std::optional<Error> TargetWriter::writeCommands() {
  // Commands of engines with words for several nodes start the other nodes by
  // themselves.
  bool startsOthers = nodes() > 1 && !table.overNodes.empty();
  for (const Launch &launch : written.nodes) {
    if (startsOthers && !commands.empty())
      break;
    // Dynamo wraps each engine in a program of its own.
    Result<LaunchCommand> command = commandOf(
        table, launch, request.kind == TargetKind::dynamo ? "dynamo." : "");
    if (!command)
      return command.error();
    if (startsOthers) {
      std::vector<std::string> words = table.overNodes;
      for (std::string &word : words)
        if (word == "{devices}")
          word = std::to_string(written.launch.devices);
      command->words.insert(command->words.begin(), words.begin(), words.end());
    }
    commands.push_back(std::move(*command));
  }
  return std::nullopt;
}

/// Returns the command of one copy on one of its nodes. Copies on the same node
/// have devices and ports of their own.
std::string TargetWriter::commandOfCopy(int64_t copy, int64_t node) const {
  LaunchCommand command = commands[size_t(node)];
  int64_t place = copy % copiesPerNode();
  if (copies() > 1 && copiesPerNode() > 1) {
    std::vector<std::string> devices;
    for (int64_t i = 0; i < written.launch.devices; ++i)
      devices.push_back(std::to_string(place * written.launch.devices + i));
    command.environment.emplace_back("CUDA_VISIBLE_DEVICES",
                                     join(devices, ","));
  }
  if (copies() > 1)
    command.words.push_back("--port=" + std::to_string(firstPort + place));
  return shellText(command);
}

//===----------------------------------------------------------------------===//
// Files for shells and batch jobs
//===----------------------------------------------------------------------===//

LaunchFile TargetWriter::writeShell() const {
  std::string text = comment();
  bool isMany = copies() * nodes() > 1;
  for (int64_t copy = 0; copy < copies(); ++copy)
    for (int64_t node = 0; node < starts(); ++node) {
      if (isMany)
        text += "# node " +
                std::to_string(nodes() > 1 ? copy * nodes() + node
                                           : copy / copiesPerNode()) +
                "\n";
      std::string command = commandOfCopy(copy, node);
      while (!command.empty() && command.back() == '\n')
        command.pop_back();
      text += command + (isMany ? " &\n" : "\n");
    }
  return {"launch.sh", text};
}

/// Replaces the leader's address in a text by `variable`.
static std::string withLeader(std::string text, const std::string &leader,
                              const std::string &variable) {
  for (size_t at = text.find(leader); at != std::string::npos;
       at = text.find(leader, at + variable.size()))
    text.replace(at, leader.size(), variable);
  return text;
}

/// Returns the script for the pods of a group: each pod starts the command of
/// its node.
std::string TargetWriter::scriptOfPods() const {
  if (nodes() == 1)
    return shellText(commands.front());
  std::string text = "case $LWS_WORKER_INDEX in\n";
  for (int64_t node = 0; node < starts(); ++node)
    text += std::to_string(node) + ")\n" +
            withLeader(shellText(commands[size_t(node)]), request.leader,
                       "$LWS_LEADER_ADDRESS") +
            ";;\n";
  return text + "esac\n";
}

LaunchFile TargetWriter::writeSlurm() const {
  int64_t perNode = copiesPerNode();
  int64_t jobNodes =
      nodes() > 1 ? copies() * nodes() : (copies() + perNode - 1) / perNode;
  int64_t gpus = devicesOfNode() * std::min(perNode, copies());
  std::string script = "case $SLURM_NODEID in\n";
  for (int64_t node = 0; node < jobNodes; ++node) {
    if (nodes() > 1 && node % nodes() >= starts())
      continue;
    script += std::to_string(node) + ")\n";
    if (nodes() > 1) {
      std::string leader = "$LEADER_" + std::to_string(node / nodes());
      script += withLeader(commandOfCopy(node / nodes(), node % nodes()),
                           request.leader, leader) +
                ";;\n";
      continue;
    }
    int64_t end = std::min(copies(), (node + 1) * perNode);
    for (int64_t copy = node * perNode; copy < end; ++copy) {
      std::string command = commandOfCopy(copy, 0);
      while (!command.empty() && command.back() == '\n')
        command.pop_back();
      script += command + " &\n";
    }
    script += "wait\n;;\n";
  }
  script += "esac\n";
  std::string text = "#!/usr/bin/env bash\n" + comment() +
                     "#SBATCH --job-name=" + name() +
                     "\n#SBATCH --nodes=" + std::to_string(jobNodes) +
                     "\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=" +
                     std::to_string(gpus) + "\n";
  for (int64_t copy = 0; nodes() > 1 && copy < copies(); ++copy)
    text += "export LEADER_" + std::to_string(copy) +
            "=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n " +
            std::to_string(copy * nodes() + 1) + "p)\n";
  return {"launch.sbatch", text + "srun bash -c " + shellWord(script) + "\n"};
}

//===----------------------------------------------------------------------===//
// Files for containers
//===----------------------------------------------------------------------===//

ordered_json TargetWriter::container(const std::string &script) const {
  ordered_json container = {{"name", "engine"}, {"image", image()}};
  container["command"] = {"sh", "-c"};
  container["args"] = ordered_json::array({script});
  container["ports"] = {{{"containerPort", firstPort}}};
  container["resources"]["limits"]["nvidia.com/gpu"] =
      std::to_string(devicesOfNode());
  container["volumeMounts"] = {{{"name", "shm"}, {"mountPath", "/dev/shm"}}};
  return container;
}

ordered_json TargetWriter::pod(const std::string &script) const {
  ordered_json spec;
  spec["containers"] = ordered_json::array({container(script)});
  spec["volumes"] = {{{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}}};
  return spec;
}

LaunchFile TargetWriter::writeCompose() const {
  ordered_json services;
  for (int64_t copy = 0; copy < copies(); ++copy)
    for (int64_t node = 0; node < nodes(); ++node) {
      ordered_json service = {{"image", image()}};
      service["entrypoint"] = {"sh", "-c"};
      service["command"] = ordered_json::array({commandOfCopy(copy, node)});
      service["ipc"] = "host";
      service["network_mode"] = "host";
      service["deploy"]["resources"]["reservations"]["devices"] = {
          {{"driver", "nvidia"},
           {"count", devicesOfNode()},
           {"capabilities", {"gpu"}}}};
      services[name() + "-" + std::to_string(copy * nodes() + node)] =
          std::move(service);
    }
  return {"compose.yaml", comment() + writeYaml({{"services", services}})};
}

/// Writes a Deployment or, for instances over several nodes, a LeaderWorkerSet.
LaunchFile TargetWriter::writeKubernetes() const {
  ordered_json manifest;
  std::string script = scriptOfPods();
  if (nodes() == 1) {
    ordered_json labels = {{"app", name()}};
    manifest = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}};
    manifest["metadata"]["name"] = name();
    manifest["spec"]["replicas"] = copies();
    manifest["spec"]["selector"]["matchLabels"] = labels;
    manifest["spec"]["template"]["metadata"]["labels"] = labels;
    manifest["spec"]["template"]["spec"] = pod(script);
  } else {
    manifest = {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
                {"kind", "LeaderWorkerSet"}};
    manifest["metadata"]["name"] = name();
    manifest["spec"]["replicas"] = copies();
    ordered_json &group = manifest["spec"]["leaderWorkerTemplate"];
    group["size"] = nodes();
    group["restartPolicy"] = "RecreateGroupOnPodRestart";
    group["workerTemplate"]["spec"] = pod(script);
  }
  return {"manifest.yaml", comment() + writeYaml(manifest)};
}

LaunchFile TargetWriter::writeDynamo() const {
  ordered_json manifest = {{"apiVersion", "nvidia.com/v1alpha1"},
                           {"kind", "DynamoGraphDeployment"}};
  manifest["metadata"]["name"] = name();
  ordered_json &services = manifest["spec"]["services"];
  services["Frontend"] = {{"componentType", "frontend"}, {"replicas", 1}};
  ordered_json &worker = services["Worker"];
  worker["componentType"] = "worker";
  worker["replicas"] = copies();
  if (nodes() > 1)
    worker["multinode"]["nodeCount"] = nodes();
  worker["resources"]["limits"]["gpu"] = std::to_string(devicesOfNode());
  ordered_json &main = worker["extraPodSpec"]["mainContainer"];
  main["image"] = image();
  main["command"] = {"sh", "-c"};
  main["args"] = ordered_json::array({scriptOfPods()});
  return {"manifest.yaml", comment() + writeYaml(manifest)};
}

Result<std::vector<LaunchFile>> TargetWriter::write() {
  if (nodes() > 1 && request.kind == TargetKind::compose)
    return Error{"",
                 "a compose file starts containers on one host, and the plan "
                 "needs " +
                     std::to_string(nodes()),
                 "--target=slurm and --target=kubernetes start several"};
  if (std::optional<Error> error = writeCommands())
    return *error;
  switch (request.kind) {
  case TargetKind::command:
    return std::vector<LaunchFile>{writeShell()};
  case TargetKind::slurm:
    return std::vector<LaunchFile>{writeSlurm()};
  case TargetKind::compose:
    return std::vector<LaunchFile>{writeCompose()};
  case TargetKind::kubernetes:
    return std::vector<LaunchFile>{writeKubernetes()};
  case TargetKind::dynamo:
    break;
  }
  return std::vector<LaunchFile>{writeDynamo()};
}

Result<std::vector<LaunchFile>>
autopar::launch::filesOf(const LaunchTable &table, const WrittenLaunch &written,
                         const TargetRequest &request) {
  return TargetWriter(table, written, request).write();
}
