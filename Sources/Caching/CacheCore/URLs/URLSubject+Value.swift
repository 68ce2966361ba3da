internal import FetchVocabulary

/// What the client gets of a response: all of it, the part that it asked for, or a 304 if it has the response already.
extension URLSubject {
  func value(_ delivery: Delivery<HTTPResponse>) -> HTTPResponse {
    var response = tailored(delivery)
    response.interim = delivery.answer.interim
    var status = CacheStatus(delivery.decision, cacheName: cacheName)
    status.isHit = delivery.isFromCache && delivery.forwardStatus == nil && delivery.failure == nil
    status.forwardStatus = delivery.forwardStatus ?? delivery.failure?.status
    status.isStored = delivery.stored != nil && delivery.isKept && delivery.forwardStatus != nil
    status.isCollapsed = delivery.isCollapsed
    status.timeToLive = delivery.stored.flatMap { $0.remainingFreshness(at: delivery.now) }
    status.detail = delivery.stored.flatMap { rules.remark(on: $0, at: delivery.now) }
    if let stored = delivery.stored, delivery.isFromCache {
      // A response of unknown age is at least as old as on arrival.
      let age = stored.age(at: delivery.now) ?? stored.initialAge
      response.head.fields["Age"] = String(max(age, .zero).components.seconds)
    }
    response.head.fields.append("Cache-Status", status.text)
    return response
  }

  private func tailored(_ delivery: Delivery<HTTPResponse>) -> HTTPResponse {
    guard delivery.answer.rest == nil, let head = usableHead(delivery) else { return delivery.answer }
    let body = delivery.answer.body
    if case .notModified(let head) = Preconditions(request).outcome(for: head, now: delivery.now) {
      return HTTPResponse(head)
    }
    if request.method == "HEAD" { return HTTPResponse(head.head) }
    return switch PartialContent(head.head, count: body.count)?.answer(to: request, now: delivery.now) {
    case .part(let head, let place): HTTPResponse(head, body: Array(body[place]))
    case .unsatisfiable(let head): HTTPResponse(head)
    case .whole, .missing, nil: whole(head.head, delivery.answer)
    }
  }

  private func whole(_ head: HTTPResponseHead, _ answer: HTTPResponse) -> HTTPResponse {
    var response = answer
    response.head = head
    return response
  }

  /// The head to answer with; `nil` if the client gets the response as it came.
  private func usableHead(_ delivery: Delivery<HTTPResponse>) -> StoredHead? {
    guard var head = delivery.stored, request.retrieves else { return nil }
    guard delivery.isFromCache else {
      head.head = delivery.answer.head
      return head
    }
    if delivery.forwardStatus == nil {
      // RFC 9111, section 5.2.2.4: fields named by no-cache must not be used without a confirmation.
      let omitted = Set(rules.directives(head.head).fieldsWithRevalidation)
      head.head.fields = HTTPFields(head.head.fields.lines.filter { !omitted.contains($0.name.lowercased()) })
    }
    return head
  }
}
