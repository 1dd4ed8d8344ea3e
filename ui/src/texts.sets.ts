/** The English texts of ApplicationSets. Apart from the others, because the first view needs none of them. */

import type { Act, Why } from './model/setPlan'
import type { Wait } from './model/steps'

const many = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`
const apps = (count: number) => many(count, 'application', 'applications')
/** `a`, `a and b`, `a, b and 3 more`. */
const names = (all: string[]) => (all.length <= 2 ? all.join(' and ') : `${all.slice(0, 2).join(', ')} and ${all.length - 2} more`)

const conditions: Record<string, [whenTrue: string, whenFalse: string]> = {
  ErrorOccurred: ['Something is wrong', 'Nothing is wrong'],
  ParametersGenerated: ['The generators have given their parameters', 'A generator has not given its parameters'],
  ResourcesUpToDate: ['Its applications are as they should be', 'Its applications are not as they should be'],
  RolloutProgressing: ['A progressive sync is under way', 'No progressive sync is under way'],
  InvalidRolloutConfig: ['Its steps cannot be followed as they are written', 'Its steps can be followed'],
}

const reasons: Record<string, string> = {
  ApplicationSetUpToDate: 'everything was generated',
  ParametersGenerated: 'all parameters are there',
  ErrorOccurred: 'because of an error',
  ApplicationGenerationFromParamsError: 'a generator failed',
  ApplicationParamsGenerationError: 'a generator failed',
  RenderTemplateParamsError: 'the template could not be filled',
  ApplicationValidationError: 'an application that was generated cannot be',
  CreateApplicationError: 'an application could not be created',
  UpdateApplicationError: 'an application could not be changed',
  DeleteApplicationError: 'an application could not be deleted',
  RefreshApplicationError: 'an application could not be refreshed',
  SyncApplicationError: 'an application could not be synced',
  DeletionsHeld: 'deletions wait to be confirmed',
  ApplicationSetModified: 'the set or its applications have changed',
  ApplicationSetRolloutComplete: 'all steps are done',
}

const whys: Record<Why, string> = {
  policy: 'applicationsSync does not allow it',
  uncertain: 'it would go, but not while something is wrong: it may be missing only because of that',
  deleting: 'it is being deleted already',
  twice: 'two are generated with this name',
  name: 'Kubernetes takes no such name',
  other: 'it belongs to another',
  taken: 'it belongs to nobody yet, and the set would take it',
}

const acts: Record<Act, string> = { create: 'create', change: 'change', delete: 'delete', keep: 'keep', wrong: 'cannot be', same: 'as it is' }

export const s = {
  title: 'ApplicationSets',
  count: (shown: number, all: number) => (shown === all ? String(all) : `${shown} of ${all}`),
  search: 'Search ApplicationSets',
  searchHint: 'Name, project, repository…',
  byStatus: 'By health',
  none: 'No ApplicationSets yet',
  noneHint: 'A set makes applications of a template and of what its generators find: clusters, folders of a repository, pull requests.',
  noMatch: 'No ApplicationSet is like that',
  gone: 'It is not there any more',
  facets: { project: 'Project', generator: 'Generator', namespace: 'Namespace', label: 'Label' },
  columns: { name: 'ApplicationSet', health: 'Health', generators: 'Generators', applications: 'Applications', project: 'Project', age: 'Age' },
  applications: apps,
  noApplications: 'none',
  unseen: (count: number) => `${count} more that you may not see`,
  rolling: 'in steps',
  deleting: 'Deleting',
  new: 'New ApplicationSet',
  conditions,
  condition: (type: string, status: string) => conditions[type]?.[status === 'True' ? 0 : 1] ?? `${type}: ${status}`,
  reasons,
  views: { applications: 'Applications', steps: 'Steps', preview: 'Preview', spec: 'Generators and template', conditions: 'Conditions', events: 'Events' },
  where: 'Where you are',
  edit: 'Edit',
  preview: 'Preview',
  policy: 'Policy',
  policies: { sync: 'create, change, delete', 'create-only': 'create only', 'create-update': 'create and change', 'create-delete': 'create and delete' } as Record<string, string>,
  keepsObjects: 'objects stay when applications go',
  strategy: (count: number) => `${many(count, 'step', 'steps')}, one after the other`,
  allAtOnce: 'all at once',
  since: 'for',
  wrong: 'It could not do all of its work, and has left the rest as it is',
  showLine: 'Show the place',
  held: {
    title: (count: number, of: number) => `${count} of ${apps(of)} wait to be deleted`,
    hint: 'So many at once are not deleted until somebody has looked at them.',
    look: 'Look and confirm',
    dialog: (count: number) => `Delete ${apps(count)}?`,
    words: 'These are no longer generated. Their objects in the cluster are deleted with them. This cannot be undone; Git is not changed.',
    keepWords: 'These are no longer generated. Their objects stay in the cluster, and nothing keeps them as Git says any more.',
    list: 'What would be deleted',
    others: (now: number, before: number) => `By now ${now} would be deleted, and not ${before}. The confirmation is for those of before, and for no others.`,
    confirm: (count: number) => `Write ${count} to go on`,
    button: 'Delete them',
    done: (count: number) => `The deletion of ${apps(count)} is confirmed`,
    kubectl: 'With kubectl',
    notTaken: 'The server has not taken the confirmation. Confirm with kubectl instead.',
  },
  members: {
    find: 'Find an application',
    step: 'Step',
    none: 'It has no applications',
    noneHint: 'Nothing was generated yet, or the generators find nothing. The preview says more.',
    amongAll: 'Among all applications',
    noStep: 'none',
    status: (status: string, message: string) => `${status}: ${message}`,
  },
  steps: {
    step: (number: number) => `Step ${number}`,
    selects: (what: string) => `applications with ${what}`,
    all: 'all applications that are left',
    most: (text: string) => `at most ${text} at a time`,
    empty: 'No application is in it.',
    outside: 'In no step',
    outsideHint: 'No step selects these: they are never told to sync.',
    notFollowed: 'Nothing is known of its steps',
    notFollowedHint: 'They are followed where applicationsetcontroller.enable.progressive.syncs is true in argocd-cmd-params-cm, and once everything could be generated.',
    done: (done: number, of: number) => `${done} of ${of} done`,
    states: { done: 'Done', running: 'Under way', failed: 'Held up', waiting: 'To come' },
    wait: (wait: Wait): string => {
      switch (wait.for) {
        case 'step':
          return `waits for step ${wait.step}: ${names(wait.names)} ${wait.names.length === 1 ? 'is' : 'are'} not Healthy yet`
        case 'room':
          return `waits for room: ${wait.busy} of at most ${wait.most} change at the moment`
        case 'noStep':
          return 'waits for a step that selects it'
        case 'start':
          return 'waits for its sync to start'
        case 'end':
          return 'waits for its sync to end'
        case 'health':
          return `waits to be Synced and Healthy; it is ${wait.sync} and ${wait.health}`
        case 'turn':
          return wait.text
      }
    },
  },
  plan: {
    running: 'Asking the generators…',
    failed: 'It cannot be generated',
    again: 'Ask again',
    create: (count: number) => `${count} to create`,
    change: (count: number) => `${count} to change`,
    delete: (count: number) => `${count} to delete`,
    keep: (count: number) => `${count} to keep`,
    wrong: (count: number) => `${count} that cannot be`,
    same: (count: number) => `${count} as they are`,
    nothing: 'Nothing: all applications are as the set has them.',
    empty: 'It generates no applications.',
    acts,
    whys,
    of: (owner: string) => `it belongs to ${owner}`,
    more: (count: number) => `and ${count} more`,
    ignored: 'Fields that ignoreApplicationDifferences names are shown here, and left alone by the set.',
    many: 'Many deletions at once wait until somebody confirms them, unless the settings say otherwise.',
    label: 'What would be done',
  },
  spec: { generators: 'Generators', all: 'All of it', noGenerators: 'It has no generator', ownTemplate: 'with a template of its own', goTemplate: 'Go templates', fastTemplate: 'plain placeholders' },
  editor: {
    title: (name: string) => `${name} as YAML`,
    newLabel: 'The ApplicationSet as YAML',
    hint: 'Only what is changed here is sent. Where Git has this set, Git has the last word.',
    newHint: 'What it would generate can be looked at before it is created.',
    renamed: 'Name and namespace cannot be changed: create another set instead.',
    takenAway: (names: string) => `${names}: the API adds labels and annotations and takes none away; use kubectl.`,
    notTaken: 'The server has not taken the annotations: it looks at them only where something else changes as well. Use kubectl.',
  },
  remove: {
    title: (name: string) => `Delete ${name}?`,
    words: (count: number) => `Its ${apps(count)} are deleted with it, and with them their objects in the cluster. This cannot be undone; Git is not changed.`,
    keepWords: (count: number) => `Its ${apps(count)} are deleted with it. Their objects stay in the cluster, and nothing keeps them as Git says any more.`,
    none: 'It has no applications. This cannot be undone; Git is not changed.',
    confirm: (name: string) => `Write ${name} to go on`,
    button: 'Delete',
    done: (name: string) => `${name} is being deleted`,
  },
  more: 'More to do',
}
