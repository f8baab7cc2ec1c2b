/**
 * A fault at the start that the person who starts Sluice can fix. The message is one line: what is wrong, with which setting or folder, and what to
 * do. It holds no secret.
 */
export class StartError extends Error {}
