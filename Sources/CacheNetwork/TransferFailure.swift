internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

extension CacheError {
  /// What it means that a transfer from `host` ended with `error`.
  init(transferFailure error: any Error, host: String) {
    let code = (error as? URLError)?.code
    let reason = Self.reason(error)
    switch code {
    case .cancelled?: self = .cancelled
    case .cannotFindHost?, .dnsLookupFailed?:
      self.init(.originUnreachable, "\(host) cannot be found", hint: "check the name and the network", cause: error)
    case .timedOut?:
      self.init(.originUnreachable, "\(host) did not answer in time", hint: "try again later", cause: error)
    case .unsupportedURL?, .badURL?:
      // The URL is one of HTTP: what libcurl does not support here is what came back.
      self.init(.invalidAnswer, "\(host) does not speak HTTP: \(reason)", hint: "check the address", cause: error)
    case _ where Self.isAboutCertificates(code, reason):
      self.init(
        .originUnreachable, "\(host) has no certificate that can be trusted: \(reason)",
        hint: "check the address, and the certificates of this system", cause: error)
    default:
      self.init(.originUnreachable, "\(host) cannot be asked: \(reason)", hint: "try again later", cause: error)
    }
  }

  private static func isAboutCertificates(_ code: URLError.Code?, _ reason: String) -> Bool {
    let codes: [URLError.Code] = [
      .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
      .serverCertificateNotYetValid, .secureConnectionFailed,
    ]
    return code.map(codes.contains) ?? false || reason.lowercased().contains("certificate")
  }

  /// What libcurl says, in one line.
  private static func reason(_ error: any Error) -> String {
    let text = (error as NSError).userInfo["NSLocalizedDescription"] as? String ?? error.localizedDescription
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
