/** Puts the history together for `house.ts`: what records the deeds of all rooms, and the endpoints that read the history and put changes back. */
import { type Furnished, room } from '../../ground/room.ts'
import * as api from './api.ts'
import { historyDeeds } from './history.ts'
import { listMarks } from './marks.ts'
import { openRecorder } from './recorder.ts'
import { openSubjects } from './subjects.ts'
import { undoDeed } from './undo.ts'
import { openVerdicts } from './verdicts.ts'

/** `furnished` are the endpoints of all other rooms. */
export function openHistory(furnished: readonly Furnished[]) {
  const subjects = openSubjects(furnished)
  const recorder = openRecorder(subjects)
  const verdicts = openVerdicts(subjects)
  const deeds = {
    listMarks,
    ...historyDeeds(subjects.roleFor, verdicts),
    ...undoDeed(subjects, recorder, verdicts, furnished),
  }
  return { recorder, subjects, rooms: room(api, deeds) }
}
