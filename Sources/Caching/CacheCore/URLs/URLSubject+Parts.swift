internal import FetchVocabulary

/// Content that arrives in parts: keep what came if a transfer breaks off, and ask for the rest later.
extension URLSubject {
  /// Asks the origin for the rest of `part`, and joins the two. `nil` if the origin must be asked for everything:
  /// `part` cannot be completed, or the answer does not continue it.
  func askForRest(
    of part: StoredResponse<HTTPResponse>, during flight: FlightTicket?
  ) async throws(CacheError) -> OriginAnswer<HTTPResponse>? {
    let (stored, content) = (part.head, part.response.body)
    // Do not complete a response that may not be stored: the client would get bytes that it did not ask for.
    guard rules.believesServer(of: request), !CacheControl(request.fields).contains("no-store"),
      let rest = rules.completing(request, stored, count: content.count, limit: maxContentBytes)
    else { return nil }
    let answer = try await send(rest, during: flight)
    switch answer.head.status {
    case 206:
      guard answer.rest == nil,
        let whole = rules.completed(stored, content, with: answer, for: request, now: now()),
        rules.mayStay(whole.head, for: request)
      else { return nil }
      return OriginAnswer(head: whole.head, response: whole, status: 206)
    // The content has changed and the server did not compare the validator, or it took the validator for another
    // condition.
    case 304, 412, 416: return nil
    // The rest, with the status of the whole, would pass for the whole.
    case _ where !rules.isWhole(answer, insteadOf: stored, now: now()): return nil
    default: return OriginAnswer(head: answer.head, response: answer)
    }
  }

  /// Sends `request` and returns the answer. If the answer breaks off, keeps the part that arrived, or removes what an
  /// unsafe request invalidates: for that the status decides (RFC 9111, section 4.4).
  func send(_ request: HTTPRequest, during flight: FlightTicket?) async throws(CacheError) -> HTTPResponse {
    let requestTime = now()
    do throws(CacheError) {
      return try await transfer.transfer(request)
    } catch {
      guard let incomplete = error.cause as? IncompleteResponse else { throw error }
      var (message, hint) = (error.message, error.hint)
      do throws(CacheError) {
        if !request.isSafe {
          if rules.believesServer(of: request) { try await invalidate(by: incomplete.response.head) }
        } else if try await keepBeginning(of: incomplete.response, requestTime: requestTime, during: flight) {
          hint =
            "\(hint.isEmpty ? "" : "\(hint): ")the cache kept what arrived, and the next fetch requests only the rest"
        }
      } catch {
        let purpose = request.isSafe ? "keep what came" : "remove what the request changed"
        if error.code != .conflict { message += "; and the cache could not \(purpose): \(error.message)" }
      }
      throw CacheError(error.code, message, hint: hint, cause: incomplete.cause)
    }
  }

  /// Whether the part that arrived is kept.
  private func keepBeginning(
    of response: HTTPResponse, requestTime: Duration, during flight: FlightTicket?
  ) async throws(CacheError) -> Bool {
    let responseTime = now()
    var trace = CacheTrace(isRecording: false)
    guard request.method == "GET", let beginning = rules.beginning(of: response, now: responseTime),
      let head = rules.stored(
        beginning.head, for: request, requestTime: requestTime, responseTime: responseTime, trace: &trace),
      // A complete stored response can still answer if the origin fails, and a part cannot.
      !selected(try await storage.variants(of: request.target)).contains(where: { $0.head.head.status != 206 })
    else { return false }
    _ = try await keep(beginning, head, confirming: nil, in: storage.during(flight))
    return true
  }
}
