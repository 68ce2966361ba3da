// The types of hiredis's parser of replies and of OpenSSL. Nothing is linked: the functions are looked up when the first
// connection is opened.
#pragma once

#include <hiredis/hiredis.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
