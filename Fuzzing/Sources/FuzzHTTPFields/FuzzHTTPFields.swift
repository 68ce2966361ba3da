internal import FetchVocabulary

@testable internal import HTTPCaching

/// The values of header fields: everything that a server may send and the rules of caching read.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  let now = Duration.seconds(1_700_000_000)
  let control = CacheControl([text])
  _ = (control.seconds("max-age"), control.fieldNames("no-cache"), CacheControl(targeted: ["CDN-Cache-Control": text]))
  if let time = HTTPDate.time(text, now: now) {
    precondition(HTTPDate.time(HTTPDate.text(time), now: now) == time, "a date is read as something else")
  }
  for length in [0, 1, 10, Int.max] {
    guard let offsets = ByteRange(text)?.offsets(in: length) else { continue }
    precondition(!offsets.isEmpty && offsets.upperBound <= length, "a range is beyond the content")
  }
  _ = (ContentRange(text), EntityTag(text))
  return 0
}
