/* clang-format off */ /* one row a line */
/*
 * Why a fetch failed, one row each: X(KIND, word for logs).
 */
X(DNS, "dns")                         /* the name has no address, or nobody could say */
X(REFUSED, "refused")                 /* no address took a connection */
X(UNREACHABLE, "unreachable")         /* no route to any address */
X(CONNECT_TIMEOUT, "connect_timeout") /* not connected (TLS and tunnel included) in time */
X(TLS_UNVERIFIED, "tls_unverified")   /* the certificate was refused */
X(TLS_BROKEN, "tls_broken")           /* the handshake or a record failed */
X(PROXY, "proxy")                     /* the proxy refused the tunnel */
X(RESET, "reset")                     /* the connection ended before any byte of the answer */
X(TRUNCATED, "truncated")             /* the connection ended within the answer */
X(FRAMING, "framing")                 /* the answer is not HTTP, or its framing is ambiguous */
X(ENCODING, "encoding")               /* the compressed body is damaged, or grows beyond all measure */
X(TOO_LARGE, "too_large")             /* the head is beyond its limit */
X(REQUEST, "request")                 /* the request cannot be written: a wrong target or field */
X(LIMIT, "limit")                     /* too many connections or upstreams at once */
X(NOMEM, "nomem")                     /* no memory */
