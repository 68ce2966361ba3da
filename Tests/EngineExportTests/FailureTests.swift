import CCachectlPlugin
import EngineAPI
import Synchronization
import Testing

@Suite("Failures through the table", .serialized) struct FailureTests {
  static let codes: [(CacheError.Code, cachectl_code)] = [
    (.invalidOption, CACHECTL_INVALID_OPTION), (.damaged, CACHECTL_DAMAGED),
    (.unsupportedFormat, CACHECTL_UNSUPPORTED_FORMAT), (.cannotCreate, CACHECTL_CANNOT_CREATE),
    (.permissionDenied, CACHECTL_PERMISSION_DENIED), (.noSpace, CACHECTL_NO_SPACE), (.ioFailed, CACHECTL_IO_FAILED),
    (.busy, CACHECTL_BUSY), (.unreachable, CACHECTL_UNREACHABLE), (.conflict, CACHECTL_CONFLICT),
    (.tooLarge, CACHECTL_TOO_LARGE), (.overBounds, CACHECTL_OVER_BOUNDS), (.unsupported, CACHECTL_UNSUPPORTED),
    (.failed, CACHECTL_FAILED), (.closed, CACHECTL_FAILED), (.cancelled, CACHECTL_FAILED),
    (.invalidKey, CACHECTL_FAILED),
    (CacheError.Code(rawValue: "ownCode"), CACHECTL_FAILED),
  ]

  @Test(arguments: codes.indices) func everyCodeHasItsNumber(_ index: Int) throws {
    let (code, number) = Self.codes[index]
    let outcome = try fail(CacheError(code, "the mëssage", hint: "the hint"))
    #expect(outcome.status == number.rawValue && outcome.message == "the mëssage" && outcome.hint == "the hint")
  }

  @Test func longTextsAreCut() throws {
    let text = String(repeating: "x", count: 1_100)
    let outcome = try fail(CacheError(.failed, text, hint: text))
    #expect(outcome.message == text.prefix(639) && outcome.hint == text.prefix(383))
  }

  @Test func textThatJustFitsIsComplete() throws {
    let (message, hint) = (String(repeating: "m", count: 639), String(repeating: "h", count: 383))
    let outcome = try fail(CacheError(.failed, message, hint: hint))
    #expect(outcome.message == message && outcome.hint == hint)
  }

  @Test func everyCallReportsItsFailure() throws {
    let store = try store(CacheError(.busy, "held"))
    let busy = Int32(CACHECTL_BUSY.rawValue)
    #expect(store.put("cities/v1/a", "") == busy && store.scan(prefix: "", limit: 1).status == busy)
    #expect(store.table.compact(store.handle, nil) == busy && store.close() == busy)
  }

  @Test func anOptionOutOfRangeIsRefused() throws {
    let (table, failure) = (try table(), Failure())
    var handle: OpaquePointer?
    let status = withConfiguration([:], ["entries": 8]) { table.open(&$0, &handle, failure.pointer) }
    #expect(status == CACHECTL_INVALID_OPTION.rawValue && handle == nil)
    #expect(failure.message.contains("entries"))
  }

  @Test func missingArgumentsAreFailures() throws {
    let (table, failure, key) = (try table(), Failure(), cachectl_bytes())
    let store = try Store()
    #expect(table.read(nil, key, nil, nil, failure.pointer) == 1 && table.close(nil, nil) == 1)
    #expect(table.open(nil, nil, failure.pointer) == 1 && failure.message == "the host gave no configuration")
    #expect(table.remove(nil, nil, nil, nil, nil) == 1)
    #expect(store.close() == 0)
  }

  private func store(_ error: CacheError, entries: Int64 = 1) throws -> Store {
    ScriptedPlugin.failure.withLock { $0 = error }
    return try Store(["manner": "failing"], numbers: ["entries": entries])
  }

  private func fail(_ error: CacheError) throws -> (status: Int32, message: String, hint: String) {
    let (store, failure) = (try store(error), Failure())
    let status = store.read("cities/v1/a", failure).status
    _ = store.close()
    return (status, failure.message, failure.hint)
  }
}
