import EngineAPI
import Testing

/// An engine that returns something recognizable from every call.
private final class AnsweringEngine: StorageEngine {
  static let metadata = EntryMetadata(
    storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "base")

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let payload: [UInt8] = [1, 2]
    return try body(payload.span, Self.metadata)
  }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? { true }

  func apply(_ batch: WriteBatch) async throws(CacheError) { throw CacheError(.noSpace, "apply") }
  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { ScanPage(next: request.prefix) }
  func count() async throws(CacheError) -> StoreCount { StoreCount(storageBytes: 5) }
  func check() async throws(CacheError) -> [IntegrityIssue] { [IntegrityIssue(kind: .structure, message: "check")] }
  func compact() async throws(CacheError) { throw CacheError(.busy, "compact") }
  func changeCount() throws(CacheError) -> UInt64? { 8 }
  func changeMark(of key: CacheKey) -> ChangeMark? { ChangeMark(number: 9, age: .zero) }
  func close() async throws(CacheError) { throw CacheError(.ioFailed, "close") }
}

private struct AnsweringPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "answering", version: "1", summary: "the same to everybody", capabilities: [.ordered], options: [])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine { AnsweringEngine() }

  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    StoreInspection(path: "answering", files: [], format: nil, currentFormat: 1)
  }

  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] { [suffix ?? "deleted"] }
}

private struct PassingLayer: EngineLayer {
  let base: any StoragePlugin
  func wrap(_ engine: any StorageEngine) -> any StorageEngine { PassingEngine(base: engine) }
}

private final class PassingEngine: WrappingEngine {
  let base: any StorageEngine
  init(base: any StorageEngine) { self.base = base }
}

@Suite struct EngineLayerTests {
  private func error(_ body: () async throws -> Void) async -> CacheError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? CacheError)?.code
    }
  }

  @Test func aLayerThatChangesNothingPassesEveryCallOn() async throws {
    let layer = PassingLayer(base: AnsweringPlugin())
    let configuration = try EngineConfiguration(for: layer.declaration, clock: SystemWallClock())
    #expect(layer.declaration.name == "answering" && layer.wrapped?.declaration.capabilities == [.ordered])
    #expect(try await layer.inspect(configuration).path == "answering")
    #expect(try await layer.removeStore(configuration, movingAside: ".x") == [".x"])
    let engine = try await layer.open(configuration)
    let key = try CacheKey("a/1")
    #expect(engine.wrapped is AnsweringEngine)
    let size = try await engine.read(key) { bytes, _ throws(CacheError) in bytes.count }
    #expect(size == 2)
    #expect(await error { try await engine.apply(WriteBatch()) } == .noSpace)
    #expect(try await engine.scan(ScanRequest(prefix: "a/")).next == "a/")
    #expect(try await engine.count().storageBytes == 5)
    #expect(try await engine.check().first?.message == "check")
    #expect(await error { try await engine.compact() } == .busy)
    #expect(try engine.changeCount() == 8)
    #expect(engine.changeMark(of: key)?.number == 9)
    #expect(await error { try await engine.close() } == .ioFailed)
  }

  @Test func aLayerDoesNotReadAtOncePastItself() async throws {
    let engine = PassingEngine(base: AnsweringEngine())
    let key = Array("a/1".utf8)
    #expect(
      try engine.readNow(key.span) { _, _ in } == nil, "a layer that changes what reads return would be passed by")
  }
}
