import HTTPCaching
import SeededNumbers
import Testing

@testable import CurlTransport

/// Parsing of header lines that libcurl rejects, or may reject in other versions.
struct HeadReaderTests {
  @Test(arguments: [
    ["HTTP/1.1 20\r\n"], ["HTTP/1.1 2000 OK\r\n"], ["HTTP/1.1 099 OK\r\n"], ["HTTP/1.1 -20 OK\r\n"], ["HTTP/9 200\r\n"],
    ["HTTP/1.1 200 OK\r\n", "A\rB: c\r\n"], ["HTTP/1.1 200 OK\r\n", "Transfer-Encoding:\r\n", " chunked\r\n"],
    ["\r\n"], ["HTTP/1.1 200 OK\r\n", " folded\r\n"], ["HTTP/1.1 200 OK\r\n", "no colon\r\n"],
    ["HTTP/1.1 200 OK\r\n", " A: b\r\n"],
    ["HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "Content-Length: 2\r\n", "\r\n"],
    ["HTTP/1.1 200 OK\r\n", "Content-Length: 1, 2\r\n", "\r\n"],
    ["HTTP/1.1 200 OK\r\n", "A: b\r\n"] + Array(repeating: " c\r\n", count: 101),
  ])
  func linesThatAreNotAHead(_ lines: [String]) {
    #expect(throws: HeadReader.Failure.self) {
      var reader = HeadReader()
      for line in lines { _ = try reader.read(Array(line.utf8)) }
    }
  }

  @Test func headsOfHTTP2() throws {
    var reader = HeadReader()
    _ = try reader.read(Array("HTTP/2 200 \r\n".utf8))
    _ = try reader.read(Array("etag: \"a\"\r\n".utf8))
    let head = try reader.read(Array("\r\n".utf8))
    #expect(head == HTTP.ResponseHead(version: .http2, status: 200, fields: ["etag": "\"a\""]))
    _ = try reader.read(Array("x-sum: 1\r\n".utf8))
    #expect(reader.trailers == ["x-sum": "1"])
  }

  /// Otherwise a program that prints the head would print lines invented by the server.
  @Test func carriageReturnsEndNoLine() throws {
    var reader = HeadReader()
    for line in ["HTTP/1.1 200 O\rK\r\r\n", "A: b\rc\r\r\n", " \r\n", " d\re\r\n"] {
      _ = try reader.read(Array(line.utf8))
    }
    let head = HTTP.ResponseHead(version: .http11, status: 200, reason: "O K", fields: ["A": "b c d e"])
    #expect(try reader.read(Array("\r\n".utf8)) == head)
  }

  /// For any lines, parsing ends with a head or a failure.
  @Test func randomLines() {
    var numbers = SeededGenerator(seed: 1)
    let alphabet = Array("HTTP/1.1 200\r\n:\t xX".utf8) + [0, 0x80, 0xE9, 0xFF]
    for _ in 0..<20_000 {
      var reader = HeadReader()
      if Bool.random(using: &numbers) { _ = try? reader.read(Array("HTTP/1.1 200 OK\r\n".utf8)) }
      for _ in 0..<5 {
        let line = (0..<Int.random(in: 0..<12, using: &numbers)).compactMap { _ in
          alphabet.randomElement(using: &numbers)
        }
        do { _ = try reader.read(line) } catch { break }
      }
    }
  }
}

/// The servers that URLs name.
struct ServerAddressTests {
  @Test(arguments: [
    ("http://example.com/a:b@c", "example.com", "example.com", 80),
    ("HTTPS://Example.com:8443?x", "Example.com:8443", "Example.com", 8443),
    ("https://user:secret@example.com#@x", "example.com", "example.com", 443), ("http://[::1]/", "[::1]", "[::1]", 80),
    ("http://[::1]:8080", "[::1]:8080", "[::1]", 8080), ("http://a@b@c:1/", "c:1", "c", 1),
  ])
  func servers(_ url: String, _ authority: String, _ host: String, _ port: Int) throws {
    let server = try #require(ServerAddress(HTTP.Request(url: url)))
    #expect(server.authority == authority)
    #expect(server.host == host)
    #expect(server.port == port)
    #expect(server.hasCredentials == (url.contains("@b@") || url.contains("secret")))
    #expect(server.isSecure == url.lowercased().hasPrefix("https"))
  }

  @Test(arguments: ["", "http", "http:", "http:/a", "http://", "http:///a", "http://:80", "ftp://a", "://a"])
  func noServers(_ url: String) { #expect(ServerAddress(HTTP.Request(url: url)) == nil) }
}
