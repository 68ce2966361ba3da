internal import CacheBase
internal import HTTPCaching
internal import CurlTransport

// Gets a URL through the transport, one or more times after each other, and writes the content to stdout. Arguments:
// URL [COUNT]

let arguments = CommandLine.arguments
guard arguments.count > 1, let count = Int(arguments.count > 2 ? arguments[2] : "1") else { exit(64) }
do {
  try await get(arguments[1], count)
} catch {
  let line = Array("Transfer: \(error)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(69)
}

/// Gets `url` `count` times. It runs off the main actor, as the tool's commands do: on it, each wait ends with a second
/// change of threads.
@concurrent
func get(_ url: String, _ count: Int) async throws {
  let service = HTTPTransferService(content: .streamed)
  for _ in 0..<count {
    let response = try await service.transfer(HTTP.Request(url: url))
    var piece: [UInt8]? = response.body
    while let bytes = piece {
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        guard written > 0 else { exit(74) }
        rest = rest.dropFirst(written)
      }
      piece = try await response.rest?.next()
    }
  }
}
