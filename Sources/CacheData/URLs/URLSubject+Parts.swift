internal import CacheDomain

/// Content that comes in several parts: it is kept where it breaks off, and the rest is asked for.
extension URLSubject {
  /// What the origin's answer for the rest makes of `part`; `nil` where it has to be asked for everything, because
  /// `part` cannot be completed, or what came does not continue it.
  func askForRest(of part: StoredResponse<HTTPResponse>) async throws(CacheError) -> OriginAnswer<HTTPResponse>? {
    let (stored, content) = (part.head, part.response.body)
    // What may not be stored is not joined: the client would be given bytes that it did not ask for.
    guard rules.believesServer(of: request), !CacheControl(request.fields).contains("no-store"),
      let rest = rules.completing(request, stored, count: content.count, limit: maxContentBytes)
    else { return nil }
    let answer = try await send(rest)
    switch answer.head.status {
    case 206:
      guard answer.rest == nil,
        let whole = rules.completed(stored, content, with: answer, for: request, now: now()),
        rules.mayStay(whole.head, for: request)
      else { return nil }
      return OriginAnswer(head: whole.head, response: whole, status: 206)
    // The content is no longer what it was, and the server did not compare the validator; or it took it for another
    // condition.
    case 304, 412, 416: return nil
    default: return OriginAnswer(head: answer.head, response: answer)
    }
  }

  /// The answer to `request`. Where it breaks off, what came of it is kept.
  func send(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let requestTime = now()
    do throws(CacheError) {
      return try await transfer.transfer(request)
    } catch {
      guard let incomplete = error.cause as? IncompleteResponse else { throw error }
      var message = error.message
      do throws(CacheError) {
        try await keepBeginning(of: incomplete.response, requestTime: requestTime)
      } catch {
        message += "; and the cache could not keep what came: \(error.message)"
      }
      throw CacheError(error.code, message, hint: error.hint, cause: incomplete.cause)
    }
  }

  private func keepBeginning(of response: HTTPResponse, requestTime: Duration) async throws(CacheError) {
    let responseTime = now()
    var trace = CacheTrace(isRecording: false)
    guard request.method == "GET", let beginning = rules.beginning(of: response, now: responseTime),
      let head = rules.stored(
        beginning.head, for: request, requestTime: requestTime, responseTime: responseTime, trace: &trace),
      // A whole response that is stored can still stand in for the origin, which a part cannot.
      !selected(try await storage.variants(of: request.url)).contains(where: { $0.head.head.status != 206 })
    else { return }
    _ = try await keep(beginning, head, confirming: nil)
  }
}
