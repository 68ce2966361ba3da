internal import CSampleData
internal import CacheData

/// The validators of the sample's answers.
enum SampleVersion {
  /// The name of the sample origins.
  static let origin = "sample"

  /// Raised whenever the program makes another answer of the same data: another overview, another poster.
  private static let revision = 1

  private static let data = EmbeddedText(csample_version())

  /// The validator of the answer to `request`: it changes with the data, with what is made of it and with the request.
  static func validator(of request: some CacheableRequest) -> String {
    let version = data.string(0..<data.count)
    return "sample-\(version)-\(revision)-\(String(fingerprint(of: request), radix: 16))"
  }

  /// FNV-1a, 64 bits (IETF draft-eastlake-fnv), of the request's parameters.
  private static func fingerprint(of request: some CacheableRequest) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for (name, value) in request.parameters {
      for byte in "\(name)=\(value)\u{0}".utf8 {
        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
      }
    }
    return hash
  }
}
