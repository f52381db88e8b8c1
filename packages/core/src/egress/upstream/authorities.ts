import { X509Certificate } from 'node:crypto'

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]*-----END (?:TRUSTED )?CERTIFICATE-----/g

/** The problem with a text that should be certificates, and its fix. Node ignores what it cannot read. */
export const problemOfCertificates = (text: string): { readonly problem: string; readonly fix: string } | undefined => {
  const found = text.match(CERTIFICATE) ?? []
  if (found.length === 0) {
    const [, other] = /-----BEGIN ([A-Z0-9 ]{1,40})-----/.exec(text) ?? []
    return other === undefined
      ? {
          problem: 'it holds no certificate in PEM',
          fix:
            'PEM begins with -----BEGIN CERTIFICATE-----; a certificate in DER becomes it by: openssl x509 ' +
            '-inform der -in FILE -out FILE.pem',
        }
      : {
          problem: `it holds no certificate, but a ${other.toLowerCase()}`,
          fix: 'name the certificate of the authority that signs those of the servers',
        }
  }
  const broken = found.findIndex((certificate) => !isReadable(certificate))
  return broken === -1
    ? undefined
    : {
        problem: `its certificate number ${broken + 1} cannot be read`,
        fix: 'see what is wrong with it: openssl x509 -in FILE -noout -text',
      }
}

const isReadable = (certificate: string): boolean => {
  try {
    return new X509Certificate(certificate).raw.length > 0
  } catch {
    return false
  }
}
