#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// These are macros, which Swift does not see.

/// Lets a context use TLS 1.2 and later only, without renegotiation.
static inline int copenssl_require_tls_1_2(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/// Tells the server which host the client means.
static inline long copenssl_set_server_name(SSL *session, const char *host) {
  return SSL_set_tlsext_host_name(session, host);
}

/// The number of bytes in a memory buffer.
static inline size_t copenssl_pending(BIO *buffer) { return BIO_ctrl_pending(buffer); }
