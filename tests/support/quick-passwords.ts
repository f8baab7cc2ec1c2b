/**
 * Loaded before test files: the houses in their processes hash passwords with little work. better-auth hashes with scrypt at each sign-up and sign-in, which takes
 * 32 MB and more than a tenth of a second of processor time. A Sluice that a test starts as a process hashes as usual. Neither accepts passwords that the other
 * hashed, because a hash does not contain the parameters.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const QUICK = { N: 64 }
const { scrypt } = crypto

Object.assign(crypto, {
  scrypt: (...[password, salt, length, options, done]: Parameters<typeof scrypt>) =>
    scrypt(password, salt, length, { ...options, ...QUICK }, done),
})
syncBuiltinESMExports()
