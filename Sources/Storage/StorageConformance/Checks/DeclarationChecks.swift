internal import StorageSPI

/// The declaration of an engine.
enum DeclarationChecks {
  static let all = [
    ConformanceCheck("declaration-names", "names are of the prescribed form, and each option has its own", names),
    ConformanceCheck("declaration-defaults", "the default of an option is a value that the option takes", defaults),
    ConformanceCheck("declaration-summaries", "summary and help are one line without a final full stop", summaries),
    ConformanceCheck(
      "declaration-durability", "a persistent engine has the option durability", requires: [.persistent], durability),
    ConformanceCheck(
      "open-impossible-path", "opening a store where none can be made fails with cannotCreate", requires: [.persistent],
      impossiblePath),
  ]

  private static func names(_ context: ConformanceContext) async throws {
    let declaration = context.subject.plugin.declaration
    try expect(CacheKey.isNamespace(declaration.name), "'\(declaration.name)' must be lower-case letters and digits")
    for option in declaration.options {
      let isCamelCase = option.name.first.map { ("a"..."z").contains($0) } ?? false
      let isWord = option.name.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
      }
      try expect(isCamelCase && isWord, "the name of option '\(option.name)' must be in camel case")
    }
    let distinct = Set(declaration.options.map(\.name))
    try expectEqual(distinct.count, declaration.options.count, "the number of different names of options")
  }

  private static func defaults(_ context: ConformanceContext) async throws {
    for option in context.subject.plugin.declaration.options {
      guard let value = option.defaultValue else { continue }
      try expect(option.accepts(value), "option '\(option.name)' does not take its own default")
      try expect(!option.isSecret, "option '\(option.name)' is secret and has a default")
    }
  }

  private static func summaries(_ context: ConformanceContext) async throws {
    let declaration = context.subject.plugin.declaration
    try expect(!declaration.version.isEmpty, "the version is empty")
    for text in [declaration.summary] + declaration.options.map(\.help) {
      let isOneLine = !text.isEmpty && !text.contains(where: \.isNewline)
      try expect(isOneLine && !text.hasSuffix("."), "\(text.debugDescription) must be one line without a full stop")
    }
  }

  private static func durability(_ context: ConformanceContext) async throws {
    let name = EngineOption.durability.name
    let option = context.subject.plugin.declaration.options.first { $0.name == name }
    guard let option else { throw ConformanceFailure("the option '\(name)' is missing") }
    try expect(option.kind == EngineOption.durability.kind, "the option '\(name)' takes other values than the standard")
  }

  private static func impossiblePath(_ context: ConformanceContext) async throws {
    let paths = context.subject.plugin.declaration.options.filter { $0.kind == .path }.map(\.name)
    guard !paths.isEmpty else { return }
    // The null device is not a folder: not even root can create anything in it.
    let overrides = Dictionary(uniqueKeysWithValues: paths.map { ($0, OptionValue.text("/dev/null/store/\($0)")) })
    try await expectError(.cannotCreate, "opening a store below /dev/null") {
      _ = try await context.open(overrides: overrides)
    }
  }
}
