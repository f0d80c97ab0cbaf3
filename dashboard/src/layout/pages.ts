/** The pages that are not about the entities of the config, in the order of the navigation. */
export const pages = [
  { to: '/', title: 'Overview' },
  { to: '/traffic', title: 'Traffic' },
  { to: '/history', title: 'History' },
  { to: '/playground', title: 'Playground' },
  { to: '/apis', title: 'APIs' },
  { to: '/plugins', title: 'Plugin catalog' },
] as const;
