/** Names of secrets in parameters, headers and fields. A value under such a name is never stored. */
const SECRET_NAME =
  /^(x[-_])?(api[-_]?key|secret|client[-_]?secret|(access[-_]?|auth[-_]?)?token|auth|authorization|pass(word|wd)?|pwd)$/i

/** Whether the value under this name must be removed before storing. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}
