internal import StorageSPI

/// Runs a random sequence on an engine and on the model, and compares the two after every step.
struct ModelRun {
  private let context: ConformanceContext
  private let store: String
  private var model = ModelStore()
  private var handles: [any StorageEngine] = []

  /// A run on the store called `store`, which must be new, through `handleCount` handles.
  init(_ context: ConformanceContext, store: String, handleCount: Int) async throws {
    self.context = context
    self.store = store
    context.clock.set(Sample.start)
    for _ in 0..<handleCount { handles.append(try await context.open(store: store)) }
  }

  /// The index of the first step after which engine and model differ, and the difference; `nil` if they never do.
  mutating func firstFailure(_ commands: [ModelCommand]) async -> (step: Int, message: String)? {
    for (step, command) in commands.enumerated() {
      do {
        try await perform(command)
        try await compare(handles[(command.handle + step) % handles.count])
      } catch {
        return (step, "\(error)")
      }
    }
    return nil
  }

  /// Closes all handles.
  func close() async throws {
    for handle in handles { try await handle.close() }
  }

  private mutating func perform(_ command: ModelCommand) async throws {
    let engine = handles[command.handle]
    let now = context.clock.now
    switch command.action {
    case .write(let changes, let bounds): try await write(changes, bounds, engine)
    case .read(let key): try model.check(read: try await engine.entry(key), of: key, at: now)
    case .scan(let range, let limit):
      try model.check(scan: try await engine.scan(range, limit: limit), of: range, limit: limit, at: now)
    case .statistics: try model.check(statistics: try await engine.statistics(), at: now)
    case .checkIntegrity:
      let issues = try await engine.checkIntegrity()
      try expect(issues.isEmpty, "an integrity check finds: \(issues.first?.message ?? "")")
    case .compact:
      try await engine.compact()
      model.compact(at: now)
    case .advanceClock(let milliseconds): context.clock.advance(by: .milliseconds(milliseconds))
    case .reopen: handles[command.handle] = try await context.reopen(engine, store: store)
    }
  }

  private mutating func write(
    _ changes: [ModelCommand.Change], _ bounds: ModelCommand.Bounds?, _ engine: any StorageEngine
  ) async throws {
    let bounds = context.subject.capabilities.contains(.ownBounds) ? nil : bounds
    let (batch, error) = model.apply(changes, within: bounds, at: context.clock.now)
    guard let error else { return try await engine.apply(batch) }
    let what = error == .conflict ? "a requirement that does not hold" : "bounds that are exceeded"
    try await expectError(error, "a batch with \(what)") { try await engine.apply(batch) }
  }

  /// Compares everything: all summaries and all payloads.
  private mutating func compare(_ engine: any StorageEngine) async throws {
    let now = context.clock.now
    try model.check(scan: try await engine.scanAll(), of: KeyRange(), limit: 10_000, at: now)
    for key in model.entries.keys { try model.check(read: try await engine.entry(key), of: key, at: now) }
  }
}
