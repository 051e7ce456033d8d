"""Certificates for tests, made when they are needed with the openssl program."""
import ssl
import subprocess


def openssl(*arguments, folder):
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Certificates:
    """An authority and, in a folder, `good`, `wrong-host`, `expired` and `self-signed`; `authority` is the file to trust."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = folder / "authority.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "authority.key", "-out",
                "authority.pem", "-days", "2", "-subj", "/CN=e2e authority", "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
                "keyUsage=critical,keyCertSign", folder=folder)
        self._signed("good", "DNS:localhost,IP:127.0.0.1")
        self._signed("wrong-host", "DNS:elsewhere.example")
        self._signed("expired", "DNS:localhost,IP:127.0.0.1", expired=True)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "self-signed.key", "-out",
                "self-signed.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", folder=folder)

    def _signed(self, name, names, expired=False):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-subj", f"/CN={name}", folder=self.folder)
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\n")
        if expired:
            self._expired(name)
            return
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", "2",
                "-extfile", f"{name}.ext", "-out", f"{name}.pem", folder=self.folder)

    def _expired(self, name):
        """`openssl x509` takes no dates before version 3.4, `openssl ca` does."""
        (self.folder / "index.txt").write_text("")
        (self.folder / "ca.cnf").write_text("[ca]\ndefault_ca=e2e\n[e2e]\ndatabase=index.txt\nrand_serial=yes\ndefault_md=sha256\n"
                                            "policy=any\nnew_certs_dir=.\n[any]\ncommonName=supplied\n")
        openssl("ca", "-batch", "-config", "ca.cnf", "-cert", "authority.pem", "-keyfile", "authority.key", "-in", f"{name}.csr", "-out",
                f"{name}.pem", "-startdate", "20200101000000Z", "-enddate", "20200201000000Z", "-extfile", f"{name}.ext", "-notext",
                folder=self.folder)

    def server(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        return context
