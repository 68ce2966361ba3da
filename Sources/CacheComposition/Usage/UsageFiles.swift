internal import StorageSPI

/// The files in which the use of a store is kept. They stand beside the store and are called after it; those of a store
/// without a path are in the home, called after the engine.
struct UsageFiles: Sendable {
  /// The ends of their names.
  static let suffixes = [".usage", ".uses"]

  /// How often the cache answered.
  let usage: UsageFile
  /// How each entry was used.
  let uses: UsageFile

  /// The files of the store at `path` of the engine that declares `declaration`.
  ///
  /// Earlier versions called them after the engine, wherever its store was: the store in the usual place takes them over.
  init(of declaration: EngineDeclaration, path: String?, home: String) {
    let inHome = "\(home)/\(declaration.name)"
    var path = path ?? inHome
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let isUsual = path == declaration.usualPath.map { "\(home)/\($0)" }
    let former = isUsual && path != inHome ? inHome : nil
    let files = Self.suffixes.map { suffix in
      UsageFile(path: path + suffix, formerPath: former.map { $0 + suffix })
    }
    (usage, uses) = (files[0], files[1])
  }
}

extension EngineDeclaration {
  /// The path of a store for which none is configured, relative to the home; `nil` where there is none.
  fileprivate var usualPath: String? {
    guard let option = options.first(where: { $0.name == "path" }), case .text(let path)? = option.defaultValue else {
      return nil
    }
    return path
  }
}
