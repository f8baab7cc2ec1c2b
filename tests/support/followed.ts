/**
 * Loaded before node:test, which follows every promise of the process to know the test it belongs to. That takes a large part of the
 * processor time of a run, and is only needed where an asynchronous suite registers its tests. So node:test follows nothing here unless
 * asked to. An error outside of what a test awaits then fails the process instead of the test.
 */
import asyncHooks, { type AsyncHook, createHook } from 'node:async_hooks'

let hook: AsyncHook | undefined
let isFollowing = false

Object.assign(asyncHooks, {
  createHook({ init }: { init: () => void }) {
    Object.assign(asyncHooks, { createHook })
    // Without `destroy`, because the end of each promise is what costs most.
    hook = createHook({ init })
    return { enable: () => void (isFollowing && hook?.enable()), disable() {} }
  },
})

/** From now on node:test knows for every promise which suite it belongs to. */
export function follow(): void {
  isFollowing = true
  hook?.enable()
}

export function unfollow(): void {
  isFollowing = false
  hook?.disable()
}
