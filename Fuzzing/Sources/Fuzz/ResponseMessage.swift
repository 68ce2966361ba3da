internal import HTTPCaching

@testable internal import CurlTransport

/// The heads of a response, and its trailers, whatever a server sends.
struct ResponseMessage: Equatable {
  private var interim: [HTTP.ResponseHead] = []
  private var final: HTTP.ResponseHead?
  private var trailers: HTTP.Fields = [:]

  static func check(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let message = ResponseMessage(bytes) else { return }
    precondition(ResponseMessage(message.bytes) == message, "a round trip changed the value")
  }

  /// `nil` if a line cannot be read.
  private init?(_ bytes: some Collection<UInt8>) {
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

  private var bytes: [UInt8] {
    let heads = (interim + [final].compactMap(\.self)).map { head in
      "\(head.version?.rawValue ?? "") \(head.status) \(head.reason ?? "")\r\n\(Self.lines(head.fields))\r\n"
    }
    return FieldText.encode(heads.joined() + Self.lines(trailers))
  }

  private static func lines(_ fields: HTTP.Fields) -> String {
    fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined()
  }
}
