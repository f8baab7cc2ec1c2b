import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { type IssuedCertificate, makeAuthority } from '../../../tests/support/certificates.ts'
import { openCertified, openStreetHouse, shake } from '../../../tests/support/street.ts'
import { readConfig } from '../../ground/config.ts'
import { StartError } from '../../ground/start-error.ts'
import { openCertificateFiles } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-files-'))
after(() => rmSync(folder, { recursive: true }))
const [TLS_CERT, TLS_KEY] = [join(folder, 'chain.pem'), join(folder, 'key.pem')]
const authority = await makeAuthority()
const write = ({ chain, key }: IssuedCertificate) => {
  writeFileSync(TLS_CERT, chain)
  writeFileSync(TLS_KEY, key)
}
const FILES = { TLS: 'files', TLS_CERT, TLS_KEY }

test('TLS=files serves the names its file is for, and the new file once it is there', async () => {
  const given = await authority.issue({ names: ['main.test', '*.wild.test'] })
  write(given)
  const house = await openStreetHouse(FILES)
  try {
    const shaken = await shake(house.https_port, { name: 'main.test', root: authority.root })
    assert.deepEqual([shaken.trusted, shaken.certificates], [true, 2])
    assert.equal((await shake(house.https_port, { name: 'a.wild.test' })).serial, shaken.serial)
    for (const name of ['a.b.wild.test', 'other.test', undefined])
      await assert.rejects(shake(house.https_port, name === undefined ? {} : { name }), /alert handshake failure/)
    assert.equal((await house.secure('main.test', '/healthz')).status, 200)

    const renewed = await authority.issue({ names: ['main.test'] })
    writeFileSync(TLS_CERT, renewed.chain)
    assert.equal((await shake(house.https_port, { name: 'main.test' })).serial, shaken.serial)
    writeFileSync(TLS_KEY, renewed.key)
    await house.certified('main.test', shaken.serial)
  } finally {
    await house.end()
  }
})

test('a file that is half exchanged leaves the former certificate in service until the other half is there', async () => {
  const given = await authority.issue({ names: ['main.test'] })
  write(given)
  const config = readConfig({ ...FILES, BASE_URL: 'https://main.test' })
  const files = await openCertificateFiles({ config, log: pino({ level: 'silent' }) })
  assert.ok(files !== undefined)
  try {
    const before = files.contextOf('main.test')
    writeFileSync(TLS_KEY, (await authority.issue({ names: ['main.test'] })).key)
    await assert.rejects(files.refresh(), /the key belongs to another certificate/)
    assert.equal(files.contextOf('main.test'), before)
    write(await authority.issue({ names: ['main.test'] }))
    await files.refresh()
    assert.notEqual(files.contextOf('main.test'), before)
  } finally {
    await files.close()
  }
})

test('files that cannot be served stop the start with what is wrong', async () => {
  const given = await authority.issue({ names: ['main.test'] })
  const other = await authority.issue({ names: ['main.test'] })
  const config = () => readConfig({ ...FILES, BASE_URL: 'https://main.test' })
  const opened = () => openCertificateFiles({ config: config(), log: pino({ level: 'silent' }) })
  write({ chain: given.chain, key: other.key })
  await assert.rejects(
    opened,
    new StartError('TLS_CERT and TLS_KEY cannot be served: the key belongs to another certificate'),
  )
  write({ chain: 'nothing', key: given.key })
  await assert.rejects(opened, new StartError('TLS_CERT and TLS_KEY cannot be served: there is no certificate in it'))
})

test('with TLS=auto the file goes first, and nothing is ordered for what it covers', async () => {
  const given = await authority.issue({ names: ['main.test'] })
  write(given)
  const { house, stub, end } = await openCertified({ TLS_CERT, TLS_KEY, ALSO_HOSTS: 'www.main.test' })
  try {
    await house.certified('www.main.test')
    assert.deepEqual(
      stub.orders.map(({ name }) => name),
      ['www.main.test'],
    )
    assert.equal((await shake(house.https_port, { name: 'main.test', root: authority.root })).trusted, true)
  } finally {
    await end()
  }
})
