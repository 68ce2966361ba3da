internal import CacheBase
internal import EngineAPI
internal import Synchronization

/// The declaration of an engine, and stores that cannot be opened.
enum DeclarationChecks {
  static let all = [
    ConformanceCheck(
      "declaration", "names, defaults and texts are of the prescribed form, and a persistent engine has durabilities",
      declaration),
    ConformanceCheck(
      "open-impossible-path", "opening a store in an impossible place fails with cannotCreate", requires: [.persistent]
    ) { context in
      let paths = context.subject.plugin.declaration.options.filter { $0.kind == .path }.map(\.name)
      guard !paths.isEmpty else { return }
      // The null device is not a directory: not even root can create anything in it.
      let overrides = Dictionary(uniqueKeysWithValues: paths.map { ($0, OptionValue.text("/dev/null/store/\($0)")) })
      try await expectError(.cannotCreate, "opening a store below /dev/null") {
        _ = try await context.open(overrides: overrides)
      }
    },
  ]

  private static func declaration(_ context: ConformanceContext) async throws {
    let declaration = context.subject.plugin.declaration
    try expect(CacheKey.isNamespace(declaration.name), "'\(declaration.name)' must be lowercase letters and digits")
    for option in declaration.options {
      let isWord = option.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      let isCamelCase = isWord && option.name.first?.isLowercase == true
      try expect(isCamelCase, "the name of option '\(option.name)' must be in camel case")
      guard let value = option.defaultValue else { continue }
      try expect(option.accepts(value), "option '\(option.name)' does not take its own default")
      try expect(!option.isSecret, "option '\(option.name)' is secret and has a default")
    }
    if context.has(.persistent) {
      let (name, kind) = (EngineOption.durability.name, EngineOption.durability.kind)
      let isThere = declaration.options.contains { $0.name == name && $0.kind == kind }
      try expect(isThere, "the option '\(name)' is missing, or takes other values than the standard")
    }
    let distinct = Set(declaration.options.map(\.name))
    try expectEqual(distinct.count, declaration.options.count, "the number of different names of options")
    try expect(!declaration.version.isEmpty, "the version is empty")
    for text in [declaration.summary] + declaration.options.map(\.help) {
      let isOneLine = !text.isEmpty && !text.contains(where: \.isNewline)
      try expect(isOneLine && !text.hasSuffix("."), "\(text.debugDescription) must be one line without a full stop")
    }
  }
}

/// How a read treats the caller's closure, and what batches do that a random history has too rarely.
enum CallChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("read-calls-body-once", "a read calls its closure once if there is an entry, else never") {
      context in
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
    },
    ConformanceCheck("read-passes-error-through", "an error that the closure throws reaches the caller", bodyError),
    ConformanceCheck("large-batch", "a batch can have a thousand operations") { context in
      let engine = try await context.open()
      let entries = try Sample.keys(1_000).enumerated().map { ($1, Sample.entry($0)) }
      try await engine.put(entries)
      try await context.expectHolds(engine, Dictionary(uniqueKeysWithValues: entries))
      try await engine.apply(WriteBatch(entries.map { .remove($0.0) }))
      try await context.expectHolds(engine, [:])
    },
    ConformanceCheck(
      "versions", "requiring or updating another version than there is, by one bit too, or none is a conflict", versions
    ),
  ]

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

  private static func versions(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let (key, absent) = (try CacheKey("cities/a"), try CacheKey("cities/b"))
    for checksum: UInt64 in [0, 1, 1 << 32, 1 << 63, .max] {
      let entry = Entry(payload: [1], metadata: Sample.metadata(checksum))
      try await engine.put(key, entry: entry)
      var conflicts: [WriteBatch.Operation] = [
        .require(key, .absent), .require(absent, .checksum(checksum)), .update(absent, entry.metadata, from: checksum),
      ]
      for bit in [0, 31, 32, 62, 63] {
        let other = checksum ^ 1 << UInt64(bit)
        conflicts += [.require(key, .checksum(other)), .update(key, entry.metadata, from: other)]
      }
      for operation in conflicts {
        try await expectError(.conflict, "\(operation) of an entry with checksum \(checksum)") {
          try await engine.apply(WriteBatch([operation]))
        }
      }
      try await engine.apply(WriteBatch([.require(key, .checksum(checksum)), .require(absent, .absent)]))
      try await context.expectHolds(engine, [key: entry])
    }
  }
}
