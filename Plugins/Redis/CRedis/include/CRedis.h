// hiredis's parser of replies, and OpenSSL. Nothing is linked: the functions are looked up when the first connection is
// opened.
#pragma once

#include <dlfcn.h>
#include <hiredis/hiredis.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stddef.h>
#include <stdint.h>

#define CREDIS_HIREDIS(DO) \
  DO(redisReaderCreate) DO(redisReaderFeed) DO(redisReaderGetReply) DO(redisReaderFree) DO(freeReplyObject)

#define CREDIS_OPENSSL(DO) \
  DO(BIO_ctrl_pending) DO(BIO_new) DO(BIO_read) DO(BIO_s_mem) DO(BIO_write) DO(ERR_clear_error) DO(ERR_peek_last_error) \
  DO(ERR_reason_error_string) DO(OPENSSL_init_ssl) DO(SSL_CTX_ctrl) DO(SSL_CTX_free) DO(SSL_CTX_load_verify_locations) \
  DO(SSL_CTX_new) DO(SSL_CTX_set_default_passwd_cb) DO(SSL_CTX_set_default_verify_paths) DO(SSL_CTX_set_options) \
  DO(SSL_CTX_set_verify) DO(SSL_CTX_use_PrivateKey_file) DO(SSL_CTX_use_certificate_chain_file) DO(SSL_ctrl) \
  DO(SSL_do_handshake) DO(SSL_free) DO(SSL_get0_param) DO(SSL_get_error) DO(SSL_get_verify_result) DO(SSL_new) \
  DO(SSL_read_ex) DO(SSL_set1_host) DO(SSL_set_bio) DO(SSL_set_connect_state) DO(SSL_set_hostflags) DO(SSL_write_ex) \
  DO(TLS_client_method) DO(X509_VERIFY_PARAM_set1_ip_asc) DO(X509_verify_cert_error_string)

#define CREDIS_FIELD(name) __typeof__(name) *name;
#define CREDIS_FIND(name) \
  if (!(functions->name = (__typeof__(name) *)dlsym(library, #name))) return #name;

// The functions of each library, by their own names.
struct credis_hiredis {
  CREDIS_HIREDIS(CREDIS_FIELD)
};
struct credis_openssl {
  CREDIS_OPENSSL(CREDIS_FIELD)
};

// Finds the functions in the loaded `library`. Returns null, or the name of a function that it lacks.
static inline const char *credis_find_hiredis(void *library, struct credis_hiredis *functions) {
  CREDIS_HIREDIS(CREDIS_FIND)
  return NULL;
}
static inline const char *credis_find_openssl(void *library, struct credis_openssl *functions) {
  CREDIS_OPENSSL(CREDIS_FIND)
  return NULL;
}

#define CREDIS_TEXT_OF(word) #word
#define CREDIS_TEXT(word) CREDIS_TEXT_OF(word)

// The version in the name of hiredis's library. It decides the layout of `redisReply`.
static inline const char *credis_hiredis_version(void) { return CREDIS_TEXT(HIREDIS_SONAME); }

// A macro that Swift does not see.
static const uint64_t credis_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
