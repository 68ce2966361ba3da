internal import EngineSupport
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

/// A closed engine reports that it is closed, and nothing else.
enum ClosingChecks {
  static let all = [
    ConformanceCheck("close-twice", "closing a closed engine does nothing", twice),
    ConformanceCheck("closed-calls-fail", "after closing, a call of any kind fails with closed", calls),
    ConformanceCheck(
      "close-during-calls", "calls under way when an engine is closed succeed, or fail with closed", during),
    ConformanceCheck("open-and-close-often", "an engine can be opened and closed any number of times", often),
  ]

  private static func twice(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.put(try CacheKey("cities/a"), Sample.entry())
    for _ in 0..<3 { try await engine.close() }
  }

  private static func calls(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try await engine.put(key, Sample.entry())
    _ = try await engine.entry(key)
    try await engine.close()
    try await expectClosed(engine, key)
  }

  /// Throws a failure unless every call fails with `closed`.
  static func expectClosed(_ engine: any StorageEngine, _ key: CacheKey) async throws {
    try await expectError(.closed, "read after close") { _ = try await engine.entry(key) }
    let absent = try CacheKey("absent/a")
    try await expectError(.closed, "read of nothing after close") { _ = try await engine.entry(absent) }
    try await expectError(.closed, "apply after close") { try await engine.put(key, Sample.entry()) }
    try await expectError(.closed, "apply of an empty batch after close") { try await engine.apply(WriteBatch()) }
    try await expectError(.closed, "scan after close") { _ = try await engine.scanAll() }
    try await expectError(.closed, "statistics after close") { _ = try await engine.count() }
    try await expectError(.closed, "checkIntegrity after close") { _ = try await engine.check() }
    try await expectError(.closed, "compact after close") { try await engine.compact() }
  }

  private static func during(_ context: ConformanceContext) async throws {
    for round in 0..<5 {
      let engine = try await context.open(store: "round-\(round)")
      let keys = try Sample.keys(20)
      try await engine.put(keys.map { ($0, Sample.entry()) })
      try await withThrowingTaskGroup(of: Void.self) { group in
        for key in keys {
          group.addTask {
            try await unlessClosed { try expectEqual(try await engine.entry(key), Sample.entry(), at: key) }
          }
          group.addTask { try await unlessClosed { try await engine.put(key, Sample.entry()) } }
        }
        group.addTask { try await engine.close() }
        try await group.waitForAll()
      }
      try await expectClosed(engine, keys[0])
    }
  }

  private static func unlessClosed(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as CacheError where error.code == .closed {}
  }

  private static func often(_ context: ConformanceContext) async throws {
    let key = try CacheKey("cities/a")
    for number in 1...(25 * context.rounds) {
      let engine = try await context.open()
      try await engine.put(key, Sample.entry(number))
      try expectEqual(try await engine.entry(key), Sample.entry(number), at: key)
      try await engine.close()
    }
  }
}
