internal import StorageSPI

/// The libraries in the search path that are not loaded, and what becomes of them.
struct FoundLibraries {
  /// Those that can be named.
  let usable: [EngineLibrary]
  /// The names of those that only their paths tell apart.
  let ambiguous: Set<String>
  /// Those whose names are those of built-in engines, which go before.
  let unusable: [EngineLibrary]

  init(_ libraries: EngineLibraries, searchPath: [String], catalogue: PluginCatalogue) {
    let found = libraries.all(in: searchPath)
    let builtIn = catalogue.declarations.map(\.name).filter { catalogue.path(ofLibrary: $0) == nil }
    unusable = found.filter { builtIn.contains($0.name) }
    usable = found.filter { library in
      let loaded = catalogue.path(ofLibrary: library.name)
      return !builtIn.contains(library.name) && loaded.map { !libraries.areSame($0, library.path) } ?? true
    }
    let names = found.map(\.name)
    ambiguous = Set(names.filter { name in names.count { $0 == name } > 1 })
  }
}
