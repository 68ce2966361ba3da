import CacheCore
import FetchVocabulary
import Synchronization
import Testing

@Suite struct LoggingTransferServiceTests {
  @Test func logsAnswerWithoutSecrets() async throws {
    let logger = Records()
    let request = HTTPRequest(
      url: "https://u:hidden@a.example/b?q=1&api_key=hidden#hidden", fields: ["Authorization": "Bearer hidden"])
    let response = try await service(FakeTransfer(200, ["Set-Cookie": "hidden"], "body"), logger).transfer(request)
    #expect(response.body == Array("body".utf8))
    let record = try #require(logger.records.first)
    #expect(record.method == "GET")
    #expect(record.url == "https://a.example/b?...")
    #expect(record.status == 200)
    #expect(record.byteCount == 4)
    #expect(record.duration == .milliseconds(1_500))
    #expect(record.failure == nil)
    #expect(!String(reflecting: record).contains("hidden"))
  }

  /// A transfer that is read as it arrives ends with its content, or when nobody will read it.
  @Test(arguments: [true, false]) func logsContentThatArrivedLater(isWhole: Bool) async throws {
    let logger = Records()
    let pieces = Mutex<[[UInt8]]>([[4, 5, 6], [2, 3]])
    let rest = StreamedContent(trailers: { ["Sum": "1"] }) { pieces.withLock { $0.popLast() } }
    let transfer = FakeTransfer(HTTPResponse(HTTPResponseHead(status: 200), body: [1], rest: rest))
    let response = try await service(transfer, logger).transfer(HTTPRequest(url: "http://a/"))
    let logged = try #require(response.rest)
    #expect(try await logged.next() == [2, 3] && logger.records.isEmpty)
    if isWhole { while try await logged.next() != nil {} } else { logged.release() }
    #expect(logger.records.map(\.byteCount) == [isWhole ? 6 : 3])
    #expect(logged.trailers == (isWhole ? ["Sum": "1"] : [:]))
  }

  @Test func logsFailure() async throws {
    let logger = Records()
    let transfer = FakeTransfer(failing: CacheError(.originUnreachable, "hidden"))
    let error = await #expect(throws: CacheError.self) {
      try await service(transfer, logger).transfer(HTTPRequest(method: "HEAD", url: "http://a/"))
    }
    #expect(error?.message == "hidden")
    let record = try #require(logger.records.first)
    #expect(record.method == "HEAD")
    #expect(record.url == "http://a/")
    #expect(record.status == nil)
    #expect(record.failure == .originUnreachable)
    #expect(!String(reflecting: record).contains("hidden"))
  }

  /// Each reading of the clock is a second and a half after the last one.
  private func service(_ transfer: any DataTransferService, _ logger: Records) -> LoggingTransferService {
    let time = ManualTime()
    return LoggingTransferService(transfer, logger: logger) { time.next() }
  }

  private final class ManualTime: Sendable {
    private let now = Mutex(ContinuousClock.now)

    func next() -> ContinuousClock.Instant {
      now.withLock { now in
        now += .milliseconds(1_500)
        return now
      }
    }
  }

  private final class Records: TransferLogger {
    private let logged = Mutex<[TransferRecord]>([])

    var records: [TransferRecord] { logged.withLock { $0 } }

    func log(_ record: TransferRecord) { logged.withLock { $0.append(record) } }
  }
}
