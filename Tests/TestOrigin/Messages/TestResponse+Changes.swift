extension TestResponse {
  /// The same with its content in chunks.
  public func chunked(_ size: Int = 1000) -> TestResponse { changing { $0.framing = .chunked(size) } }

  /// The same with its content in chunks, and fields after it.
  public func trailing(_ trailers: TestFields) -> TestResponse { chunked().changing { $0.trailers = trailers } }

  /// The same with a length of the content that is claimed, and not true.
  public func claiming(length: Int) -> TestResponse { changing { $0.framing = .claimedLength(length) } }

  /// The same without a length: the end of the connection is the end of the content.
  public func untilClose() -> TestResponse { changing { $0.framing = .close } }

  /// The same, but the connection ends after `count` bytes of the content.
  public func cut(after count: Int) -> TestResponse { changing { $0.cut = count } }

  /// The same, but raw bytes are sent so many at a time, with a millisecond in between.
  public func inPieces(of size: Int) -> TestResponse { changing { $0.pieceSize = max(1, size) } }

  /// The same, but nothing is sent before `gate` is opened.
  public func held(by gate: TestGate) -> TestResponse { changing { $0.gate = gate } }

  /// The same, but no more than `count` bytes of the content are sent before `gate` is opened. If `count` is not 0, the
  /// content is in chunks, one of which ends there.
  public func contentHeld(by gate: TestGate, after count: Int = 0) -> TestResponse {
    changing { response in
      response.bodyGate = gate
      response.ungated = count
    }
  }

  /// The same with other fields in place of those of the same names.
  public func with(_ fields: TestFields) -> TestResponse { changing { $0.fields = $0.fields.replacing(with: fields) } }

  /// The same with its content compressed. A strong tag is then another one, as its bytes are others (RFC 9110, section
  /// 8.8.3.3); a weak one stays, as it says the same.
  public func gzipped() -> TestResponse {
    guard case .bytes(let bytes) = body else { return self }
    return changing { response in
      response.body = .bytes(Gzip.compress(bytes))
      response.fields["Content-Encoding"] = "gzip"
      if let tag = fields["ETag"], tag.hasPrefix("\"") { response.fields["ETag"] = "\(tag.dropLast())-gzip\"" }
    }
  }

  /// The answer to `request`: a 304 without content where one of its conditions holds (RFC 9110, section 13.2.2), and
  /// this answer otherwise. Dates are compared as texts, as the section allows.
  public func validated(for request: TestRequest) -> TestResponse {
    guard status == 200, ["GET", "HEAD"].contains(request.method), isKnown(to: request) else { return self }
    var response = TestResponse(status: 304)
    for name in ["Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary"] {
      response.fields[name] = fields[name]
    }
    response.gate = gate
    return response
  }

  private func isKnown(to request: TestRequest) -> Bool {
    if let condition = request.fields["If-None-Match"] {
      guard let tag = fields["ETag"] else { return false }
      let tags = condition.split(separator: ",").map { Self.opaque($0.drop(while: \.isWhitespace)) }
      return condition == "*" || tags.contains(Self.opaque(tag[...]))
    }
    guard let date = request.fields["If-Modified-Since"] else { return false }
    return date == fields["Last-Modified"]
  }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }

  private func changing(_ change: (inout TestResponse) -> Void) -> TestResponse {
    var response = self
    change(&response)
    return response
  }
}
