/** Names that secrets go by, in parameters, headers and fields: what is sent under one is kept nowhere. */
const SECRET_NAME =
  /^(x[-_])?(api[-_]?key|secret|client[-_]?secret|(access[-_]?|auth[-_]?)?token|auth|authorization|pass(word|wd)?|pwd)$/i

/** Whether the value under this name is taken out before anything is stored. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}
