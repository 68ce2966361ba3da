internal import CacheBase
internal import CacheCore
internal import EngineAPI

/// The value of a key in one source, before it is checked.
enum SettingInput {
  /// A value in the file.
  case node(JSONDocument.Node)
  /// The text of the environment variable of that name.
  case variable(String, String)
  /// The text after KEY= in an argument.
  case flag(String)
}

/// Turns what the file, a variable or a flag says into a checked value.
extension SettingKind {
  typealias Node = JSONDocument.Node

  /// A mistake in a value.
  struct Mismatch: Error {
    let code: ConfigurationError.Code
    /// The mistake, to follow the key in a message.
    let message: String
    let hint: String
    /// The part of the value with the mistake, to follow the key's path.
    let part: String
    /// The place of that part, if the value is in a file.
    let place: SourcePlace?
  }

  /// The checked value of `input`.
  func value(_ input: SettingInput, _ environment: EnvironmentVariables) throws(Mismatch) -> SettingValue {
    switch (input, self) {
    case (.node(let node), _): try value(node, environment)
    case (.variable(let name, let text), .secret): .secret(Secret(variable: name, value: text))
    // A secret on the command line would be visible to everyone, and headers are several values: both are written as in
    // the file. A list can be.
    case (.flag(let text), .secret), (.flag(let text), .secrets), (.flag(let text), .headers):
      try value(json: text, environment)
    case (.flag(let text), .paths) where text.hasPrefix("["), (.flag(let text), .names) where text.hasPrefix("["):
      try value(json: text, environment)
    case (.flag(let text), _), (.variable(_, let text), _): try value(text)
    }
  }

  /// The checked value of a text that is written as in the file. It is not shown: it might be a secret.
  private func value(json text: String, _ environment: EnvironmentVariables) throws(Mismatch) -> SettingValue {
    guard let document = try? JSONDocument(parsing: Array(text.utf8)) else {
      throw mistake("is not \(noun)")
    }
    return try value(document.root, environment)
  }

  private func value(_ node: Node, _ environment: EnvironmentVariables) throws(Mismatch) -> SettingValue {
    switch (self, node.value) {
    case (.secret, _): .secret(try secret(node, environment))
    case (.secrets, .array(let nodes)) where !nodes.isEmpty: .secrets(try secrets(nodes, environment))
    case (.headers, .object(let members)): .headers(try headers(members, environment))
    case (.paths, .array(let nodes)): .list(try texts(nodes, "a path"))
    case (.names, .array(let nodes)): .list(try texts(nodes, "a name"))
    case (.option(.boolean), .boolean(let flag)): .option(.boolean(flag))
    case (.option(.integer), .number(let digits)): try value(digits)
    case (.option(.integer), _), (.option(.boolean), _), (.headers, _), (.paths, _), (.names, _), (.secrets, _):
      throw wrongType(node)
    case (_, .text(let text)): try value(text)
    default: throw wrongType(node)
    }
  }

  /// The checked value of a text. Colons separate the paths of a list, and commas its names.
  private func value(_ text: String) throws(Mismatch) -> SettingValue {
    switch self {
    case .option(let option): .option(try value(text, option))
    case .backend(let names): .text(try backend(try withoutNull(text), names))
    case .url: .text(try url(text))
    case .proxy: .text(try proxy(text))
    case .paths: .list(text.split(separator: ":").map(String.init))
    case .names: .list(text.split(separator: ",").map(String.init))
    case .headers, .secret, .secrets: throw malformed(text)
    }
  }

  private func value(_ text: String, _ option: EngineOption.Kind) throws(Mismatch) -> OptionValue {
    switch option {
    case .text: .text(try withoutLogin(try withoutNull(text)))
    case .path: .text(try path(text))
    case .choice(let names): .text(try choice(text, names))
    case .storeName: if EngineOption.isStoreName(text) { .text(text) } else { throw malformed(text) }
    case .integer(let range): .integer(try number(Int64(text), in: range, text))
    case .size(let range): .integer(try number(ByteSizeText(text)?.bytes, in: range, text))
    case .duration(let range): .integer(try number(DurationText(text)?.milliseconds, in: range, text))
    case .boolean: if text == "true" || text == "false" { .boolean(text == "true") } else { throw malformed(text) }
    }
  }

  private func number(_ value: Int64?, in range: ClosedRange<Int64>, _ text: String) throws(Mismatch) -> Int64 {
    guard let value else { throw malformed(text) }
    guard range.contains(value) else {
      throw mistake("is out of range: \(text.shown)", .outOfRange)
    }
    return value
  }

  private func choice(_ text: String, _ names: [String]) throws(Mismatch) -> String {
    if names.contains(text) { return text }
    if let short = Spelling.shortName(for: text), names.contains(short) { return short }
    let nearest = Spelling.nearest(to: text, among: names).map { "; the nearest is \($0)" } ?? ""
    throw mistake("cannot be \(text.shown)", .outOfRange, hint: "give \(allowed)\(nearest)")
  }

  /// The name or path of an engine. Its library is searched for later, when all settings of where to look are known.
  private func backend(_ text: String, _ names: [String]) throws(Mismatch) -> String {
    // The names of known engines come first: that check is fast, which matters at the start of a process.
    names.contains(text) || EngineName.isPath(text) || EngineName.isValid(text) ? text : try choice(text, names)
  }

  /// Refuses an address with a user or a password, without showing it: valid addresses are shown everywhere.
  private func withoutLogin(_ text: String) throws(Mismatch) -> String {
    guard text.holds("://"), text.holds("@") else { return text }
    throw mistake(
      "is an address with a user or a password in it",
      hint: "leave them out, and give the options user and password: \"password\": {\"env\": \"NAME\"}")
  }

  /// Refuses what no file can be called, or no system can open.
  private func path(_ text: String) throws(Mismatch) -> String {
    let names = text.utf8.split(separator: UInt8(ascii: "/"))
    guard EngineOption.isPath(text), text.utf8.count <= Self.longestPath,
      names.allSatisfy({ $0.count <= Self.longestName })
    else { throw malformed(text) }
    return text
  }

  /// The longest path and the longest name in it, in bytes, that systems take: `PATH_MAX` without its end, and `NAME_MAX`.
  private static let (longestPath, longestName) = (4_095, 255)

  /// Refuses a null character, at which the system would end the text.
  private func withoutNull(_ text: String) throws(Mismatch) -> String {
    guard text.utf8.contains(0) else { return text }
    throw mistake("has a null character in it: \(text.shown)")
  }

  /// A malformed address is not shown: it might contain a password.
  private func url(_ text: String) throws(Mismatch) -> String {
    if (try? BaseURL(text)) != nil { return text }
    throw mistake("is not an address of a server")
  }

  /// A malformed address is not shown: it might contain a password.
  private func proxy(_ text: String) throws(Mismatch) -> String {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "@") }) else {
      throw mistake("is not the address of a proxy")
    }
    if ProxyAddress.hasKnownScheme(text) { return text }
    throw mistake("is not the address of a proxy: \(ProxyAddress.mistake)", hint: ProxyAddress.hint)
  }

  private func texts(_ nodes: [Node], _ noun: String) throws(Mismatch) -> [String] {
    var texts: [String] = []
    for (position, node) in nodes.enumerated() {
      guard case .text(let text) = node.value, !text.isEmpty else {
        throw wrongType(node, not: noun, part: "[\(position)]")
      }
      texts.append(self == .paths ? try path(text) : text)
    }
    return texts
  }

  private func headers(
    _ members: [JSONDocument.Member], _ environment: EnvironmentVariables
  ) throws(Mismatch) -> [HeaderSetting] {
    var names: Set<String> = []
    var headers: [HeaderSetting] = []
    for member in members {
      let name = member.key.lowercased()
      let part = ".\(member.key.shownKey)"
      guard HTTPSyntax.isToken(member.key), names.insert(name).inserted else {
        throw mistake(
          "is not the name of a header, or occurs twice", hint: "give each header once, by its name", part: part,
          member.place)
      }
      let value: HeaderSetting.Value
      if case .text(let text) = member.node.value, !Self.secretHeaders.contains(name) {
        guard HTTPSyntax.isFieldValue(text) else {
          throw mistake(
            "has a control character in its value", hint: "write it on one line", part: part, member.node.place)
        }
        value = .text(text)
      } else {
        value = .secret(try secret(member.node, environment, part))
      }
      headers.append(HeaderSetting(name: member.key, value: value))
    }
    return headers
  }

  /// The lowercase names of headers whose value must be a secret.
  private static var secretHeaders: Set<String> { ["authorization", "proxy-authorization", "cookie"] }

  private func secrets(_ nodes: [Node], _ environment: EnvironmentVariables) throws(Mismatch) -> [Secret] {
    var secrets: [Secret] = []
    for (position, node) in nodes.enumerated() { secrets.append(try secret(node, environment, "[\(position)]")) }
    return secrets
  }

  private func secret(
    _ node: Node, _ environment: EnvironmentVariables, _ part: String = ""
  ) throws(Mismatch) -> Secret {
    guard case .object(let members) = node.value, members.count == 1, let member = members.first, member.key == "env",
      case .text(let variable) = member.node.value, Secret.isVariableName(variable)
    else {
      throw mistake(
        "is not written as a secret", .wrongType, hint: "give \(SettingKind.secret.allowed)", part: part, node.place)
    }
    return Secret(variable: variable, value: environment[variable])
  }

  private func wrongType(_ node: Node, not noun: String? = nil, part: String = "") -> Mismatch {
    mistake("is \(node.value.noun), not \(noun ?? self.noun)", .wrongType, part: part, node.place)
  }

  private func malformed(_ text: String) -> Mismatch { mistake("is not \(noun): \(text.shown)") }

  /// The mistake `message`; without `hint`, it advises to give an allowed value.
  private func mistake(
    _ message: String, _ code: ConfigurationError.Code = .malformed, hint: String? = nil, part: String = "",
    _ place: SourcePlace? = nil
  ) -> Mismatch {
    Mismatch(code: code, message: message, hint: hint ?? "give \(allowed)", part: part, place: place)
  }
}
