import CacheBase
import HTTPCaching
import Synchronization
import TestOrigin
import Testing
@testable import CurlTransport

/// The flow of data: backpressure to the server, cancellation, connections, threads and descriptors.
@Suite(.timeLimit(.minutes(10))) struct FlowTests {
  /// A transfer, and the thread that carries it.
  private struct Carried {
    let thread: TransferThread
    let transfer: Transfer

    init(_ url: String, thread: TransferThread? = nil) throws {
      let limits = TransferLimits(
        timeout: .seconds(1_800), totalTimeout: nil, isForEachWait: true, settings: LimitSettings())
      self.thread = try thread ?? TransferThread(NetworkSettings(limits, TransportOptions(), environment: { _ in nil }))
      transfer = Transfer(try OutgoingRequest(HTTP.Request(url: url)), loop: self.thread.loop)
      transfer.begin()
    }
  }

  /// The test sends many times more bytes than the buffers of both sides hold.
  @Test func contentThatIsNotReadStaysAtTheServer() async throws {
    let size = 64 << 20
    let server = try TestServer { _ in TestResponse(body: .repeated(Array(0...250), count: size)) }
    let transfer = try Carried(server.url)
    while !transfer.transfer.backlog.isPaused { await Task.yield() }
    let bound = 1 << 20 + 16384
    #expect(transfer.transfer.backlog.count < bound)
    #expect(server.sentByteCount < size / 2)
    var count = 0
    var isOrdered = true
    while let bytes = try await transfer.transfer.next() {
      isOrdered = isOrdered && bytes.count <= bound && bytes.first == UInt8(count % 251)
      count += bytes.count
      isOrdered = isOrdered && bytes.last == UInt8((count - 1) % 251)
    }
    #expect(count == size)
    #expect(isOrdered)
  }

  /// Content taken while libcurl is paused must not make the reader forget to resume libcurl.
  @Test func aPauseLastsUntilTheReaderHasTakenHalf() async throws {
    let request = try OutgoingRequest(HTTP.Request(url: "http://localhost/"))
    let piece = [UInt8](repeating: 1, count: ByteQueue.pieceSize)
    let transfer = Transfer(request, loop: try Carried("http://localhost:1/").thread.loop, bufferSize: 4 * piece.count)
    func receive() -> Bool { piece.withUnsafeBytes { transfer.receive($0) } }
    #expect((0..<5).map { _ in receive() } == [true, true, true, true, false])
    #expect(try await transfer.next()?.count == piece.count)
    #expect(transfer.backlog.isPaused)
    #expect(receive())
    #expect(transfer.backlog.isPaused)
    for _ in 0..<2 { _ = try await transfer.next() }
    #expect(!transfer.backlog.isPaused)
  }

  @Test func aPausedTransferHoldsUpNoOther() async throws {
    let server = try TestServer { request in
      request.path == "/large" ? TestResponse(body: .repeated([1], count: nil)) : TestResponse("hi")
    }
    let large = try Carried(server.url + "/large")
    while !large.transfer.backlog.isPaused { await Task.yield() }
    #expect(try await Carried(server.url, thread: large.thread).transfer.next() == Array("hi".utf8))
    large.transfer.cancel()
    await server.abandoned(1)
  }

  /// More content is requested only when libcurl has taken most of the last piece.
  @Test func requestContentIsReadWhileItIsSent() async throws {
    let pieces = Mutex(0)
    let size = 1 << 20
    let stream = StreamedContent {
      pieces.withLock { $0 += 1 }
      return [UInt8](repeating: 7, count: size)
    }
    let content = OutgoingContent(HTTP.Request(url: "http://localhost/", stream: stream))
    let supplied = AsyncStream<Void>.makeStream()
    content.feed(onMore: { supplied.continuation.yield() }, onFailure: { Issue.record("\($0)") })
    var iterator = supplied.stream.makeAsyncIterator()
    var buffer = [UInt8](repeating: 0, count: size / 2)
    func take() -> OutgoingContent.Portion { buffer.withUnsafeMutableBytes { content.take($0) } }
    #expect(pieces.withLock { $0 } == 0)
    #expect(take() == .later)
    await iterator.next()
    #expect(take() == .bytes(size / 2))
    #expect(pieces.withLock { $0 } == 1)
    content.stop()
  }

  @Test func largeRequestContentArrivesCompletely() async throws {
    let server = try TestServer { request in TestResponse("\(request.body.count) \(Set(request.body))") }
    let rest = Mutex(400)
    let content = StreamedContent {
      let isLeft = rest.withLock { rest in
        rest -= 1
        return rest >= 0
      }
      return isLeft ? [UInt8](repeating: 9, count: 10_000) : nil
    }
    let response = try await HTTPTransferService.plain().transfer(
      HTTP.Request(method: "PUT", url: server.url, stream: content))
    #expect(String(decoding: response.body, as: UTF8.self) == "4000000 [9]")
  }

  @Test func cancelledTasksCloseTheirConnections() async throws {
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let service = HTTPTransferService.plain()
    let task = Task { try await service.transfer(HTTP.Request(url: server.url)) }
    await server.received(1)
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await server.abandoned(1)
  }

  @Test func cancelledReadersCloseTheirConnections() async throws {
    let server = try TestServer(script: [TestResponse("never").chunked().contentHeld(by: try TestGate())])
    let response = try await HTTPTransferService.plain().transfer(HTTP.Request(url: server.url))
    let task = Task { try await response.rest?.next() }
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await server.abandoned(1)
  }

  @Test func cancelledTasksSendNothing() async throws {
    let server = try TestServer(script: [TestResponse("never")])
    let service = HTTPTransferService.plain()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await service.transfer(HTTP.Request(url: server.url))
    }
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(server.connectionCount == 0)
  }

  @Test func aResponseOutlivesItsService() async throws {
    let gate = try TestGate()
    let server = try TestServer(script: [TestResponse("hi").chunked().contentHeld(by: gate)])
    let response = try await HTTPTransferService.plain().transfer(HTTP.Request(url: server.url))
    gate.open()
    #expect(try await response.rest?.next() == Array("hi".utf8))
    #expect(try await response.rest?.next() == nil)
  }

  @Test func aCancelledTransferSaysSo() async throws {
    let server = try TestServer { _ in TestResponse(body: .repeated([1], count: nil)) }
    let carried = try Carried(server.url)
    #expect(try await carried.transfer.head().status == 200)
    carried.transfer.cancel()
    carried.transfer.cancel()
    let error = await #expect(throws: CacheError.self) { try await carried.transfer.next() }
    #expect(error?.code == .cancelled)
  }

  @Test func connectionsAreKept() async throws {
    let server = try TestServer { request in
      TestResponse(String(repeating: "x", count: request.target.count * 1000)).trailing(["X-Sum": "1"])
    }
    let service = HTTPTransferService.plain()
    for number in 0..<100 { _ = try await service.get("\(server.url)/\(number)") }
    #expect(server.count == 100)
    #expect(server.connectionCount == 1)
  }

  @Test func manyRequestsAtOnceGetTheirOwnResponses() async throws {
    let server = try TestServer { TestResponse($0.path) }
    let service = HTTPTransferService.plain()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<100 {
        group.addTask {
          let response = try await service.get("\(server.url)/\(number)")
          return String(decoding: response.body, as: UTF8.self) == "/\(number)"
        }
      }
      for try await isOwn in group { #expect(isOwn) }
    }
    #expect(server.count == 100)
  }

  /// The thread is joined with the last reference, so nothing of it is left afterwards.
  @Test func theThreadEndsWithItsLastReference() async throws {
    let server = try TestServer { _ in TestResponse("hi") }
    var ended: TransferLoop?
    do {
      let carried = try Carried(server.url)
      #expect(try await carried.transfer.head().status == 200)
      ended = carried.thread.loop
    }
    let late = Transfer(try OutgoingRequest(HTTP.Request(url: server.url)), loop: try #require(ended))
    late.begin()
    let error = await #expect(throws: CacheError.self) { try await late.head() }
    #expect(error?.message.hasPrefix("the network cannot be used") == true)
  }
}

/// Connections left open.
@Suite(.timeLimit(.minutes(10))) struct DescriptorTests {
  @Test func nothingStaysOpenAfterManyRequests() async throws {
    let responses: [TestResponse] = [
      TestResponse("hi"), TestResponse("hi").chunked(), TestResponse("hi").untilClose(), .hangUp,
      TestResponse("hi").cut(after: 1), .raw("SSH"), TestResponse(body: .repeated([1], count: nil)),
      TestResponse(status: 304),
    ]
    let server = try TestServer { request in responses[(Int(request.path.dropFirst()) ?? 0) % responses.count] }
    do {
      let service = HTTPTransferService.plain()
      for number in 0..<200 {
        let response = try? await service.transfer(HTTP.Request(url: "\(server.url)/\(number)"))
        _ = try? await response?.rest?.next()
      }
      #expect(server.count >= 200)
    }
    #expect(OpenDescriptors.connections(to: server.port) == 0)
  }
}
