internal import CacheBase
internal import EngineAPI

/// The file, the environment and the program's arguments, before they are checked. Without any of them, each key has its
/// default as it is declared.
struct SettingSources: Sendable {
  let names: ConfigurationNames
  var environment: EnvironmentVariables = [:]
  /// The file in use, and its content.
  var file: (path: String, root: JSONDocument.Node)?
  /// The program's own variables that have a value, by their names without the program's prefix.
  var variables: [String] = []
  /// The settings by arguments; of several for one key, the last counts. The path of a text without KEY= is empty.
  var assignments: [(path: String, text: String, flag: String)] = []
  /// Makes the paths in values absolute; `nil` to leave them.
  var paths: PathResolver?

  /// The members of the object at `section` in the file.
  func members(of section: String) -> [JSONDocument.Member] {
    guard let file, case .object(var members) = file.root.value else { return [] }
    for name in section.split(separator: ".") {
      guard case .object(let inner)? = members.first(where: { $0.key == name })?.node.value else { return [] }
      members = inner
    }
    return members
  }

  /// The inputs for `setting`, which is `member` of the file, in the order in which they override each other.
  func inputs(
    for setting: Setting, _ member: JSONDocument.Member?
  ) -> [(input: SettingInput, source: ConfigurationSource)] {
    var inputs: [(input: SettingInput, source: ConfigurationSource)] = []
    if let file, let node = member?.node { inputs.append((.node(node), .file(file.path, node.place))) }
    // The names of variables are only computed if there are any.
    if !variables.isEmpty, let variable = setting.variable, variables.contains(variable) {
      let name = names.prefix + variable
      inputs.append((.variable(name, environment[name] ?? ""), .variable(name)))
    }
    for assignment in assignments where setting.isAt(assignment.path) {
      inputs.append((.flag(assignment.text), .flag(assignment.flag)))
    }
    return inputs
  }

  /// `value`, with its paths made absolute if it is of a kind that has paths.
  func resolving(_ value: SettingValue, _ kind: SettingKind) -> SettingValue {
    guard let paths else { return value }
    switch kind {
    case .option(.path): return value.text.map { .text(paths.absolute($0)) } ?? value
    case .backend: return value.text.map { EngineName.isPath($0) ? .text(paths.absolute($0)) : value } ?? value
    case .paths: return .list(value.list?.map(paths.absolute) ?? [])
    default: return value
    }
  }
}
