import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { firstIdAt, newId, timeOfId, toUuid, toWireId } from './ids.ts'

test('every uuid survives the conversion to the wire and back, in any case', () => {
  fc.assert(
    fc.property(fc.uuid(), uuid => {
      const wire = toWireId(uuid)
      assert.match(wire, /^[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      assert.equal(toUuid(wire), uuid)
      assert.equal(toUuid(wire.toUpperCase()), uuid)
      assert.equal(toUuid(uuid.toUpperCase()), uuid)
      assert.equal(toUuid(uuid.replaceAll('-', '')), uuid)
    }),
  )
})

test('known vectors of the TypeID suffix hold', () => {
  assert.equal(toWireId('00000000-0000-0000-0000-000000000000'), '00000000000000000000000000')
  assert.equal(toWireId('00000000-0000-0000-0000-000000000001'), '00000000000000000000000001')
  assert.equal(toWireId('00000000-0000-0000-0000-000000000020'), '00000000000000000000000010')
  assert.equal(toWireId('01890a5d-ac96-774b-bcce-b302099a8057'), '01h455vb4pex5vsknk084sn02q')
  assert.equal(toWireId('ffffffff-ffff-ffff-ffff-ffffffffffff'), '7zzzzzzzzzzzzzzzzzzzzzzzzz')
})

test('text that is no id is not accepted as one', () => {
  for (const text of [
    '',
    '{click_id}',
    '8zzzzzzzzzzzzzzzzzzzzzzzzz',
    '01h455vb4pex5vsknk084sn02',
    '01h455vb4pex5vsknk084sn02u',
    ' 01h455vb4pex5vsknk084sn02q',
  ])
    assert.equal(toUuid(text), undefined, text)
})

test('ids are ordered by their millisecond and carry it', () => {
  const early = newId(1_700_000_000_000)
  const late = newId(1_700_000_000_001)
  assert.ok(early < late)
  assert.equal(timeOfId(late), 1_700_000_000_001)
  assert.ok(firstIdAt(1_700_000_000_001) <= late && firstIdAt(1_700_000_000_001) > early)
})
