internal import HTTPCaching

@testable internal import CurlTransport

/// The lines of a response, whatever a server sends: what can be read is written so that the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let message = Message(bytes) else { return 0 }
  precondition(Message(message.bytes) == message, "what was written is read as something else")
  return 0
}

/// The heads of a response, and its trailers.
private struct Message: Equatable {
  var interim: [HTTPResponseHead] = []
  var final: HTTPResponseHead?
  var trailers: HTTPFields = [:]

  /// `nil` where a line cannot be read.
  init?(_ bytes: some Collection<UInt8>) {
    var reader = HeadReader()
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    for line in lines {
      do {
        guard let head = try reader.read(line + [UInt8(ascii: "\n")]) else { continue }
        if head.isInterim { interim.append(head) } else { final = head }
      } catch {
        return nil
      }
    }
    trailers = reader.trailers
  }

  var bytes: [UInt8] {
    let heads = (interim + [final].compactMap(\.self)).map { head in
      "\(head.version?.rawValue ?? "") \(head.status) \(head.reason ?? "")\r\n\(Self.lines(head.fields))\r\n"
    }
    return FieldText.encode(heads.joined() + Self.lines(trailers))
  }

  private static func lines(_ fields: HTTPFields) -> String {
    fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined()
  }
}
