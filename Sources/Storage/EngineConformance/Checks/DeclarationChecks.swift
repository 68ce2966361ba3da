internal import EngineAPI
internal import Synchronization

/// The declaration of an engine.
enum DeclarationChecks {
  static let all = [
    ConformanceCheck(
      "declaration", "names, defaults, summary and help are of the prescribed form, and each option has its own name",
      declaration),
    ConformanceCheck(
      "declaration-durability", "a persistent engine has the option durability", requires: [.persistent], durability),
    ConformanceCheck(
      "open-impossible-path", "opening a store where none can be made fails with cannotCreate", requires: [.persistent],
      impossiblePath),
  ]

  private static func declaration(_ context: ConformanceContext) async throws {
    let declaration = context.subject.plugin.declaration
    try expect(CacheKey.isNamespace(declaration.name), "'\(declaration.name)' must be lower-case letters and digits")
    for option in declaration.options {
      let isWord = option.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      let isCamelCase = isWord && option.name.first?.isLowercase == true
      try expect(isCamelCase, "the name of option '\(option.name)' must be in camel case")
    }
    let distinct = Set(declaration.options.map(\.name))
    try expectEqual(distinct.count, declaration.options.count, "the number of different names of options")
    for option in declaration.options {
      guard let value = option.defaultValue else { continue }
      try expect(option.accepts(value), "option '\(option.name)' does not take its own default")
      try expect(!option.isSecret, "option '\(option.name)' is secret and has a default")
    }
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
    // The null device is not a directory: not even root can create anything in it.
    let overrides = Dictionary(uniqueKeysWithValues: paths.map { ($0, OptionValue.text("/dev/null/store/\($0)")) })
    try await expectError(.cannotCreate, "opening a store below /dev/null") {
      _ = try await context.open(overrides: overrides)
    }
  }
}

/// What a read returns, and how it treats the caller's closure.
enum ReadChecks {
  static let all: [ConformanceCheck] = [
    .script(
      "read-and-remove", "an entry reads as it was written last, at once too, and as nil if there is none",
      [
        apply(.remove("cities/a")), apply(.put("cities/b", 2), .put("cities/aa", 1), .remove("movies/a")),
        apply(.remove("cities/b")), apply(.put("cities/b", 4)), apply(.remove("cities/absent")),
        each([10, 1_000, 0, 100_000, 1, 5_000]) { size in [apply(.put("cities/a", size, size: size))] },
        apply(.update("cities/b", 5), .remove("cities/aa")),
      ]),
    ConformanceCheck(
      "read-calls-body-once", "a read calls its closure once if there is an entry, else never", bodyCalls),
    ConformanceCheck("read-passes-error-through", "an error that the closure throws reaches the caller", bodyError),
    ConformanceCheck("reading-changes-nothing", "reading, scanning and counting leave the store as it is", readOnly),
  ]

  private static func bodyCalls(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    try await engine.put(try CacheKey("cities/a"), entry: Sample.entry())
    for (text, expected) in [("cities/a", 1), ("cities/b", 0), ("movies/a", 0)] {
      let calls = Atomic(0)
      let result = try await engine.read(try CacheKey(text)) { _, _ throws(CacheError) in
        calls.wrappingAdd(1, ordering: .relaxed).newValue
      }
      try expectEqual(calls.load(ordering: .relaxed), expected, "calls of the closure for \(text)")
      try expectEqual(result, expected == 0 ? nil : 1, "what the read of \(text) returned")
    }
  }

  private static func bodyError(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let key = try CacheKey("cities/a")
    try await engine.put(key, entry: Sample.entry())
    let code = CacheError.Code(rawValue: "ofTheCaller")
    let bytes = Array(key.text.utf8)
    for _ in 0..<20 {
      try await expectError(code, "a read whose closure throws") {
        _ = try await engine.read(key) { _, _ throws(CacheError) -> Int in throw CacheError(code, "of the caller") }
      }
      try await expectError(code, "readNow whose closure throws") {
        let found = try engine.readNow(bytes.span) { _, _ throws(CacheError) in throw CacheError(code, "of the caller")
        }
        if found == nil { throw CacheError(code, "the engine declines") }
      }
    }
    try await engine.put(key, entry: Sample.entry(2))
    try await context.expectHolds(engine, [key: Sample.entry(2)])
  }

  private static func readOnly(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let entries = Dictionary(uniqueKeysWithValues: try Sample.keys(20).map { ($0, Sample.entry()) })
    try await engine.put(entries.map { ($0.key, $0.value) })
    let before = try await engine.count()
    for _ in 0..<2 {
      try await context.expectHolds(engine, entries)
      try expectEqual(try await engine.entry(try CacheKey("nothing/there")), nil, at: try CacheKey("nothing/there"))
      _ = try await engine.check()
    }
    try expectEqual(try await engine.count(), before, "the count after reading")
  }
}
