internal import Base
internal import CacheData
public import CacheDomain
internal import Glibc

/// The files that the settings of the network name, examined before any server is asked.
struct NetworkFiles: Sendable {
  /// A digest of the client's certificate; `nil` where there is none. Where else the certificate stands, and with what
  /// beside it, makes no other client.
  private(set) var clientIdentity: String?
  /// Why one of the files cannot be used; `nil` where all can.
  private(set) var problem: CacheError?

  private let areFlags: Bool

  /// Reads the files of `network`.
  ///
  /// - Parameter areFlags: whether flags of the command line name them, and not keys of the configuration.
  init(_ network: Configuration.Network, areFlags: Bool = false) {
    self.areFlags = areFlags
    if let path = network.clientCertificate, let text = text(of: path, holding: .certificate, .clientCertificate) {
      var digest = SHA256()
      digest.update(Self.firstCertificate(in: text))
      clientIdentity = digest.hexText
      if network.clientKey == nil { require(.privateKey, in: text, path, .clientCertificate) }
    }
    if let path = network.clientKey { _ = text(of: path, holding: .privateKey, .clientKey) }
    if let path = network.authorityFile { _ = text(of: path, holding: .certificate, .authorities) }
  }

  /// What a file is for.
  private enum Purpose {
    case authorities
    case clientCertificate
    case clientKey

    func name(isFlag: Bool) -> String {
      switch self {
      case .authorities: isFlag ? "--cacert" : "network.authorityFile"
      case .clientCertificate: isFlag ? "--cert" : "network.clientCertificate"
      case .clientKey: isFlag ? "--key" : "network.clientKey"
      }
    }
  }

  /// What a file has to hold, as the lines before and after it say (RFC 7468).
  private enum Content: String {
    case certificate = "CERTIFICATE-----"
    case privateKey = "PRIVATE KEY-----"

    var noun: String { self == .certificate ? "certificate" : "private key" }
  }

  /// The text of the file at `path`; `nil` where it is of no use, or a pipe or the like, which can be read only once.
  private mutating func text(of path: String, holding content: Content, _ purpose: Purpose) -> String? {
    var status = stat()
    if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
      if purpose == .clientCertificate { note(purpose, "\(path) is no regular file", content) }
      return nil
    }
    do throws(ConfigurationError) {
      guard let bytes = try ConfigurationFiles.contents(of: path) else {
        note(purpose, "there is no file \(path)", content)
        return nil
      }
      let text = String(decoding: bytes, as: UTF8.self)
      return require(content, in: text, path, purpose) ? text : nil
    } catch {
      note(purpose, error.message, content)
      return nil
    }
  }

  @discardableResult
  private mutating func require(
    _ content: Content, in text: String, _ path: String, _ purpose: Purpose
  ) -> Bool {
    if text.holds(content.rawValue) { return true }
    note(purpose, "\(path) holds no \(content.noun) (PEM)", content)
    return false
  }

  private mutating func note(_ purpose: Purpose, _ message: String, _ content: Content) {
    let isMissingKey = purpose == .clientCertificate && content == .privateKey
    let place = isMissingKey ? " with \(Purpose.clientKey.name(isFlag: areFlags))" : ""
    let error = CacheError(
      areFlags ? .invalidRequest : .originUnavailable, "\(purpose.name(isFlag: areFlags)): \(message)",
      hint: "name a file that you may read and that holds the \(content.noun) (PEM)\(place)")
    problem = problem ?? error
  }

  /// What stands for the certificate that a client shows of those in `text`: the first.
  private static func firstCertificate(in text: String) -> [UInt8] {
    let lines = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    let start = lines.drop { !Substring($0).hasSuffix(Content.certificate.rawValue) }.dropFirst()
    return Array(start.prefix { !Substring($0).hasPrefix("-----") }.joined())
  }
}

extension TransferDemands {
  /// Makes sure that what flags of the command line say of the network can be used.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` that names the flag.
  public func check() throws(CacheError) {
    if let proxy = network.proxy, !ProxyAddress.hasKnownScheme(proxy) {
      throw CacheError(.invalidRequest, "--proxy: \(ProxyAddress.mistake)", hint: ProxyAddress.hint)
    }
    if let problem = NetworkFiles(network, areFlags: true).problem { throw problem }
  }
}
