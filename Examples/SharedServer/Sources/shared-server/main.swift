// A web server that passes on the pages of another one. Its cache is on Redis: what one process has fetched, the others
// need not fetch.
import Foundation
import CurlTransport
import RedisStorage
import ResponseCache

guard CommandLine.arguments.count == 3 else {
  print("usage: shared-server REDIS-URL ORIGIN-URL")
  exit(64)
}
let origin = CommandLine.arguments[2]
let cache = try await Cache(.redis(url: CommandLine.arguments[1], prefix: "shared-server"), isShared: true)
let transfer = HTTPTransferService()

/// The response to a request for `path`.
func answer(_ path: Substring) async -> [UInt8] {
  do {
    let response = try await cache.response(to: HTTP.Request(url: origin + path), over: transfer)
    return message(response.head.status, response.head.fields["cache-status"] ?? "", response.body)
  } catch {
    return message(502, "shared-server", Array("\(error)\n".utf8))
  }
}

func message(_ status: Int, _ cacheStatus: String, _ body: [UInt8]) -> [UInt8] {
  let fields = ["Cache-Status: \(cacheStatus)", "Content-Length: \(body.count)", "Connection: close"]
  return Array("HTTP/1.1 \(status) \r\n\(fields.joined(separator: "\r\n"))\r\n\r\n".utf8) + body
}

/// Listens on a free port of the loopback interface, and prints its address.
func listenLocally() -> Int32 {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isListening = withUnsafeMutableBytes(of: &address) { bytes in
    let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
    return bind(listener, pointer, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, pointer, &size) == 0
  }
  guard isListening else { exit(71) }
  FileHandle.standardOutput.write(Data("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))\n".utf8))
  return listener
}

/// Reads one request, and responds to it.
func serve(_ client: FileHandle) async {
  let words = String(decoding: client.availableData, as: UTF8.self).split(separator: " ", maxSplits: 2)
  if words.count == 3 { try? client.write(contentsOf: Data(await answer(words[1]))) }
}

signal(SIGPIPE, SIG_IGN)
let listener = listenLocally()
while true {
  let socket = accept(listener, nil, nil)
  Task.detached { await serve(FileHandle(fileDescriptor: socket, closeOnDealloc: true)) }
}
