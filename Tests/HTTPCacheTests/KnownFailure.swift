/// A case that this cache does not pass, and why it is not to.
struct KnownFailure: Sendable {
  let id: String
  let reason: String

  init(_ id: String, _ reason: String) {
    self.id = id
    self.reason = reason
  }

  /// Those in `setting`, by identifier.
  static func all(in setting: SuiteSetting) -> [String: String] {
    let listed = everywhere + (setting.isShared ? shared : private_)
    return Dictionary(listed.map { ($0.id, $0.reason) }, uniquingKeysWith: { first, _ in first })
  }

  private static let everywhere: [KnownFailure] = []
  private static let shared: [KnownFailure] = []
  private static let private_: [KnownFailure] = []
}
