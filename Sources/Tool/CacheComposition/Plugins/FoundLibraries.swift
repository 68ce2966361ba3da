internal import StorageSPI

/// The libraries in the search path that are not loaded, sorted by whether they can be used.
package struct FoundLibraries {
  /// Those that can be chosen by name.
  package let usable: [EngineLibrary]
  /// The names that several libraries share: only their paths tell them apart.
  package let ambiguous: Set<String>
  /// Those with the name of a built-in engine, which takes precedence.
  package let unusable: [EngineLibrary]

  package init(_ libraries: EngineLibraries, searchPath: [String], catalogue: PluginCatalogue) {
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
