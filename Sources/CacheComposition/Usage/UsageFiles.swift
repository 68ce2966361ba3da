internal import CacheData
internal import StorageSPI

/// The files in which the use of a store is kept. They stand beside the store and are called after it; those of a store
/// without a path are in the home, called after the engine and, unless it is in the usual place, a digest of its address.
struct UsageFiles: Sendable {
  /// The ends of their names.
  static let suffixes = [".usage", ".uses"]

  /// How often the cache answered.
  let usage: UsageFile
  /// How each entry was used.
  let uses: UsageFile

  /// The files of the store of the engine that declares `declaration`, with `values` for its options.
  ///
  /// Earlier versions called them after the engine, wherever its store was: the store in the usual place takes them over.
  init(of declaration: EngineDeclaration, _ values: [String: OptionValue], home: String) {
    let inHome = "\(home)/\(declaration.name)"
    var path = inHome + (declaration.digest(ofAddressIn: values).map { "-\($0)" } ?? "")
    if case .text(let text)? = values["path"] { path = text }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let isUsual = path == declaration.usualPath.map { "\(home)/\($0)" }
    let former = isUsual && path != inHome ? inHome : nil
    let files = Self.suffixes.map { suffix in
      UsageFile(path: path + suffix, formerPath: former.map { $0 + suffix })
    }
    (usage, uses) = (files[0], files[1])
  }

  /// Whether files called `name`, without their suffix, may be those of a store of `engine` on a server.
  static func mayBeOnServer(_ name: String, _ engine: String) -> Bool {
    guard name.hasPrefix("\(engine)-") else { return false }
    let digest = name.utf8.dropFirst(engine.utf8.count + 1)
    return digest.count == EngineDeclaration.digestLength
      && digest.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension EngineDeclaration {
  fileprivate static let digestLength = 16

  /// A digest of what tells stores on servers apart: the address and the name of the store; `nil` where both are the
  /// usual ones.
  fileprivate func digest(ofAddressIn values: [String: OptionValue]) -> String? {
    let parts = options.filter { $0.name == "url" || $0.kind == .storeName }
    let given = parts.map { values[$0.name] ?? $0.defaultValue }
    guard given != parts.map(\.defaultValue) else { return nil }
    var digest = SHA256()
    for (option, value) in zip(parts, given) {
      if case .text(let text)? = value { digest.update(Array("\(option.name)=\(text)\n".utf8)) }
    }
    return String(digest.hexText.prefix(Self.digestLength))
  }

  /// The path of a store for which none is configured, relative to the home; `nil` where there is none.
  fileprivate var usualPath: String? {
    guard let option = options.first(where: { $0.name == "path" }), case .text(let path)? = option.defaultValue else {
      return nil
    }
    return path
  }
}
