internal import CachedFetching
internal import EngineSupport
package import StorageSPI

/// The files that record the use of a store. They are next to the store and named after it, except the uses of a store
/// whose engine has put its mark into a folder: they are in that file. Those of a store without a path are in the home, named after the engine and, unless it is in the usual place, a digest of its address.
package struct UsageFiles: Sendable {
  /// The suffixes of their names.
  package static let suffixes = [".usage", ".uses", ".sweep"]

  /// How often the cache answered.
  package let operations: UsageFile
  /// When and how often each entry was read.
  package let accesses: UsageFile
  /// Where the next eviction goes on.
  package let sweep: UsageFile

  /// The files for the store of the engine that declares `declaration`, with `values` for its options.
  ///
  /// Earlier versions named them after the engine, wherever its store was: the store in the usual place takes those
  /// over. A store that a link leads to takes over those beside the link.
  package init(of declaration: EngineDeclaration, _ values: [String: OptionValue], home: String) {
    let inHome = "\(home)/\(declaration.name)"
    let given = Self.path(of: declaration, values, home: home)
    // An engine puts the mark of a file beside the file itself. One beside the link would outlive the link.
    let path = if case .file(_)? = try? StorePlace(given) { StorePlace.resolved(given) } else { given }
    let isUsual = given == declaration.usualPath.map { "\(home)/\($0)" }
    let formerOfUsual = isUsual && path != inHome ? inHome : nil
    let former = path == given ? formerOfUsual : given
    let files = Self.suffixes.map { suffix in
      UsageFile(path: path + suffix, formerPath: former.map { $0 + suffix })
    }
    let mark = StoreMark(inFolder: path)
    (operations, sweep) = (files[0], files[2])
    accesses = mark.isPresent ? UsageFile(path: mark.path) : files[1]
  }

  /// What the paths of files beside that store begin with.
  static func path(of declaration: EngineDeclaration, _ values: [String: OptionValue], home: String) -> String {
    var path = "\(home)/\(declaration.name)" + (declaration.digest(ofAddressIn: values).map { "-\($0)" } ?? "")
    if case .text(let text)? = values["path"] { path = text }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// Whether files called `name`, without their suffix, may belong to a store of `engine` on a server.
  package static func mayBeOnServer(_ name: String, _ engine: String) -> Bool {
    guard name.hasPrefix("\(engine)-") else { return false }
    let digest = name.utf8.dropFirst(engine.utf8.count + 1)
    return digest.count == EngineDeclaration.digestLength
      && digest.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension EngineDeclaration {
  fileprivate static let digestLength = 16

  /// A digest of the address and the name of the store, which tell stores on servers apart; `nil` if both are the usual
  /// ones.
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

  /// The default path of a store, relative to the home; `nil` if there is none.
  fileprivate var usualPath: String? {
    guard let option = options.first(where: { $0.name == "path" }), case .text(let path)? = option.defaultValue else {
      return nil
    }
    return path
  }
}
