internal import CacheBase
internal import CCurl
internal import HTTPCaching

/// Sets the options of a libcurl handle, and keeps the first failure.
final class EasySetter {
  private let easy: UnsafeMutableRawPointer
  private(set) var failed: (option: UInt32, reason: String)?

  init(_ easy: UnsafeMutableRawPointer) {
    self.easy = easy
  }

  /// Makes `easy` send `request` as `settings` say, and deliver the response as it arrives.
  func configure(_ request: OutgoingRequest, _ settings: NetworkSettings) {
    setRequest(request)
    set(CURLOPT_NOSIGNAL, 1)
    // Do not follow redirects, do not undo codings, accept nothing older than HTTP/1.
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Optional: older versions of libcurl lack these.
    set(CCURLOPT_PROTOCOLS_STR, "http,https", isNeeded: false)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS), isNeeded: false)
    // An abandoned name look-up must not delay other transfers.
    set(CCURLOPT_QUICK_EXIT, 1, isNeeded: false)
    set(CURLOPT_BUFFERSIZE, 128 * 1024)
    setConnection(request, settings)
  }

  private func setRequest(_ request: OutgoingRequest) {
    set(CURLOPT_URL, request.url)
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    if request.method == "HEAD" { return set(CURLOPT_NOBODY, 1) }
    if request.hasContent {
      set(CURLOPT_UPLOAD, 1)
      setOffset(CURLOPT_INFILESIZE_LARGE, request.contentLength ?? -1)
      // If a kept connection turned out to be closed, the content would be needed again.
      if request.stream != nil { set(CURLOPT_FRESH_CONNECT, 1) }
    }
    set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  private func setConnection(_ request: OutgoingRequest, _ settings: NetworkSettings) {
    setLimits(request, settings.limits)
    let options = settings.options
    set(CURLOPT_PROXY, settings.proxy(for: request.server))
    set(CURLOPT_NOPROXY, settings.noProxy)
    if settings.hasAuthorities || settings.authorityFile != nil {
      set(CURLOPT_CAINFO, settings.authorityFile)
      set(CURLOPT_PROXY_CAINFO, settings.authorityFile, isNeeded: false)
    }
    if settings.hasAuthorities || settings.authorityFolder != nil {
      set(CURLOPT_CAPATH, settings.authorityFolder)
      set(CURLOPT_PROXY_CAPATH, settings.authorityFolder, isNeeded: false)
    }
    if options.isInsecure {
      set(CURLOPT_SSL_VERIFYPEER, 0)
      set(CURLOPT_SSL_VERIFYHOST, 0)
    }
    guard request.showsIdentity, let certificate = options.clientCertificate else { return }
    set(CURLOPT_SSLCERT, certificate.file)
    set(CURLOPT_SSLKEY, certificate.keyFile ?? certificate.file)
    // Without this, OpenSSL would ask for the password of an encrypted key at the terminal.
    set(CURLOPT_KEYPASSWD, "")
  }

  private func setLimits(_ request: OutgoingRequest, _ limits: TransferLimits) {
    let timeout = Self.milliseconds(limits.timeout)
    let total = limits.totalTimeout.map(Self.milliseconds)
    if !limits.isForEachWait { return set(CURLOPT_TIMEOUT_MS, min(timeout, total ?? timeout)) }
    set(CURLOPT_CONNECTTIMEOUT_MS, timeout)
    if let total { set(CURLOPT_TIMEOUT_MS, total) }
    // While content of unknown length is being sent, the caller's source may be the slow part.
    guard !request.hasContent || request.contentLength != nil else { return }
    set(CURLOPT_LOW_SPEED_LIMIT, 1)
    set(CURLOPT_LOW_SPEED_TIME, max(1, timeout / 1000))
  }

  func set(_ option: CURLoption, _ value: Int, isNeeded: Bool = true) {
    note(ccurl_set_long(easy, option, value), option, isNeeded)
  }

  func set(_ option: CURLoption, _ value: String?, isNeeded: Bool = true) {
    note(ccurl_set_text(easy, option, value), option, isNeeded)
  }

  func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
    note(ccurl_set_pointer(easy, option, value), option)
  }

  func setOffset(_ option: CURLoption, _ value: Int) {
    note(ccurl_set_offset(easy, option, curl_off_t(value)), option)
  }

  func set(
    _ option: CURLoption,
    _ function: @convention(c) (UnsafeMutablePointer<CChar>, Int, Int, UnsafeMutableRawPointer) -> Int
  ) {
    note(ccurl_set_transfer(easy, option, function), option)
  }

  func setSeek(_ function: @convention(c) (UnsafeMutableRawPointer, curl_off_t, Int32) -> Int32) {
    note(ccurl_set_seek(easy, function), CURLOPT_SEEKFUNCTION)
  }

  private func note(_ code: CURLcode, _ option: CURLoption, _ isNeeded: Bool = true) {
    guard code != CURLE_OK, isNeeded, failed == nil else { return }
    failed = (option.rawValue, String(cString: ccurl_easy_strerror(code)))
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    Int(min(max(duration.wholeMilliseconds, 1), Int64(Int32.max)))
  }
}

/// The header lines of a request in libcurl's format.
enum RequestLines {
  /// Fields that libcurl would send, or act on, by itself.
  private static let unwanted = ["Accept", "Expect", "Proxy-Connection"]

  /// Makes a list of the lines, which the caller must free.
  static func make(_ request: OutgoingRequest) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for field in request.fields.lines {
      // libcurl leaves out a field without a value, unless a semicolon follows its name.
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      append(FieldText.encode(line), to: &list)
    }
    for name in unwanted where !request.fields.contains(name) { append(Array("\(name):".utf8), to: &list) }
    return list
  }

  private static func append(_ line: [UInt8], to list: inout UnsafeMutablePointer<curl_slist>?) {
    let text = line.map { CChar(bitPattern: $0) } + [0]
    list = ccurl_slist_append(list, text) ?? list
  }
}
