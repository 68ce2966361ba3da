import CacheBase
import CurlTransport
import Foundation
import HTTPCaching
import SeededNumbers
import TestOrigin
import Testing

/// A server that sends arbitrary data: each request ends with a response or an error, another server's responses are
/// unharmed, and no connection stays open.
///
/// `CACHECTL_HOSTILE_MINUTES` makes the test run that long, starting with `CACHECTL_SEED`. A round depends only on its
/// seed, except for the order of concurrent events.
@Suite(.timeLimit(.minutes(120))) struct HostileServerTests {
  private static let variables = ProcessInfo.processInfo.environment

  @Test func everyRequestEnds() async throws {
    let minutes = Self.variables["CACHECTL_HOSTILE_MINUTES"].flatMap { Double($0) } ?? 0
    let first = Self.variables["CACHECTL_SEED"].flatMap { UInt64($0) } ?? 1
    let end = ContinuousClock.now + .seconds(60 * minutes)
    let before = OpenDescriptors.all
    var round = first
    repeat {
      try await play(round)
      round += 1
    } while round < first + 4 || ContinuousClock.now < end
    // No other test runs then.
    guard minutes > 0 else { return }
    for _ in 0..<6000 where OpenDescriptors.all > before { poll(nil, 0, 10) }
    #expect(OpenDescriptors.all <= before)
    print("\(round - first) rounds of hostile answers, from the seed \(first) on")
  }

  private func play(_ round: UInt64) async throws {
    let server = try TestServer { HostileResponse.response(seed: UInt64($0.path.dropFirst()) ?? 0) }
    // Use a new server: surplus data can arrive as the response to the next request.
    let soundServer = try TestServer(script: [TestResponse("hello")])
    do {
      let service = HTTPTransferService.plain()
      await withTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            for number in 0..<25 {
              await Self.send(to: server.url, service, seed: round &* 1000 + UInt64(task * 100 + number))
            }
          }
        }
      }
      let sound = try await service.get(soundServer.url)
      #expect(sound.body == Array("hello".utf8), "round \(round)")
    }
    #expect(OpenDescriptors.connections(to: server.port) == 0, "round \(round)")
  }

  /// Sends one request, and reads a random part of the response.
  private static func send(to url: String, _ service: HTTPTransferService, seed: UInt64) async {
    var numbers = SeededGenerator(seed: ~seed)
    let request = HTTP.Request(method: numbers.pick(["GET", "GET", "HEAD", "POST", "DELETE"]), url: "\(url)/\(seed)")
    let pieces = numbers.isOne(in: 4) ? Int.random(in: 0..<3, using: &numbers) : Int.max
    let task = Task { try await read(request, service, pieces: pieces) }
    if numbers.isOne(in: 10) {
      for _ in 0..<Int.random(in: 0..<100, using: &numbers) { await Task.yield() }
      task.cancel()
    }
    let codes: Set<CacheError.Code> = [.originUnreachable, .invalidAnswer, .cancelled]
    switch await task.result {
    case .success(let status): #expect((200...999).contains(status), "seed \(seed)")
    case .failure(let error):
      #expect((error as? CacheError).map { codes.contains($0.code) } == true, "\(seed): \(error)")
    }
  }

  private static func read(_ request: HTTP.Request, _ service: HTTPTransferService, pieces: Int) async throws -> Int {
    let response = try await service.transfer(request)
    var count = 0
    while count < pieces, try await response.rest?.next() != nil { count += 1 }
    return response.head.status
  }
}

/// The output of a hostile server: pieces of HTTP in any order, damaged, cut off, in chunks of any size. It depends
/// only on a seed.
struct HostileResponse {
  private static let sound = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.0 401 No\r\nWWW-Authenticate: Basic realm=a\r\nContent-Encoding: gzip\r\n\r\nhello",
  ]

  private static let pieces = [
    "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 \r\nLink: <a>\r\n\r\n", "HTTP/1.0 599\n",
    "HTTP/2 200 \r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", "HTTP/1.1 204 No Content\r\n", "HTTP/0.9 1 x\r\n",
    "HTTP/1.1", "Content-Length: 5\r\n", "Content-Length: 99999999999999999999\r\n", "Content-Length: -1\r\n",
    "Content-Length:\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
    "Connection: close\r\n", "Connection: keep-alive\r\n", "Upgrade: h2c\r\n", "X:y\n", " folded\r\n", ": nameless\r\n",
    "no colon\r\n", "Set-Cookie: a=b\r\n", "\r\n", "\n", "\r", "\0", "5\r\nhello\r\n", "5;a=\"b\r\nhello\r\n",
    "0\r\n\r\n", "0\r\nX: y\r\n\r\n", "ffffffffffffffff\r\n", "-1\r\n", "hello", "220 mail.example ESMTP\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ]

  /// The response for `seed`.
  static func response(seed: UInt64) -> TestResponse {
    var numbers = SeededGenerator(seed: seed)
    if numbers.isOne(in: 20) { return .hangUp }
    var bytes = Array(text(&numbers).utf8)
    for _ in 0..<Int.random(in: 0..<4, using: &numbers) { damage(&bytes, &numbers) }
    let response = TestResponse.raw(bytes: bytes)
    return numbers.isOne(in: 3) ? response.inPieces(of: Int.random(in: 1...64, using: &numbers)) : response
  }

  private static func text(_ numbers: inout SeededGenerator) -> String {
    if numbers.isOne(in: 2) { return numbers.pick(sound) }
    let start = numbers.isOne(in: 4) ? "" : "HTTP/1.1 200 OK\r\n"
    let count = Int.random(in: 0..<12, using: &numbers)
    return start + (0..<count).map { _ in piece(&numbers) }.joined()
  }

  private static func piece(_ numbers: inout SeededGenerator) -> String {
    let piece = numbers.pick(pieces)
    return numbers.isOne(in: 50) ? String(repeating: piece, count: Int.random(in: 1...20_000, using: &numbers)) : piece
  }

  private static func damage(_ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let place = Int.random(in: bytes.indices, using: &numbers)
    switch Int.random(in: 0..<5, using: &numbers) {
    case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
    case 1: bytes.remove(at: place)
    case 2: bytes.insert(numbers.pick(Array("\r\n :0fF\0".utf8)), at: place)
    case 3: bytes.insert(contentsOf: (0..<40).map { _ in UInt8.random(in: 0...255, using: &numbers) }, at: place)
    default: bytes.removeSubrange(place...)
    }
  }
}
