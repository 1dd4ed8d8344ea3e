/** A project as YAML, new or to change. */

import { Drawer } from '@mantine/core'
import { useState } from 'react'

import { queries } from '../../api/hooks'
import { createProject, updateProject } from '../../api/others'
import type { Project } from '../../api/types'
import { written } from '../../model/document'
import { tidied } from '../../model/patch'
import { tell } from '../../parts/Feedback'
import { useSending } from '../../parts/Form'
import { t } from '../../texts'
import { DocumentForm } from '../edit/DocumentForm'

const NEW = {
  apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject', metadata: { name: 'team' },
  spec: { description: '', sourceRepos: ['*'], destinations: [{ server: 'https://kubernetes.default.svc', namespace: 'team-*' }], roles: [{ name: 'ci', policies: ['p, proj:team:ci, applications, sync, team/*, allow'] }] },
}

/** What people write of a project. Its version goes along, so that nobody's change is overwritten unseen. */
function manifestOf(project: Project): Record<string, unknown> {
  const { name, namespace, labels, annotations, resourceVersion } = project.metadata
  return { apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject', metadata: tidied({ name, namespace, labels, annotations, resourceVersion }), spec: project.spec }
}

export function ProjectDrawer({ project, close }: { project: Project | undefined; close: () => void }) {
  const sending = useSending()
  const [before] = useState(() => project && written(manifestOf(project)))
  const [text, setText] = useState(() => before ?? written(NEW))
  const save = (value: Record<string, unknown>) => {
    sending.send(
      () => (project ? updateProject(project.metadata.name, value) : createProject(value)),
      () => {
        tell(t.edit.saved((value.metadata as { name?: string } | undefined)?.name ?? ''))
        void queries.invalidateQueries({ queryKey: ['projects'] })
        close()
      },
    )
  }
  return (
    <Drawer opened onClose={close} position="right" size={760} title={<strong>{project ? t.settings.projectYaml(project.metadata.name) : t.settings.newProject}</strong>} closeButtonProps={{ 'aria-label': t.common.close }} transitionProps={{ duration: 120 }}>
      <DocumentForm
        label={project ? t.settings.projectYaml(project.metadata.name) : t.settings.newProjectYaml} {...(before !== undefined && { before })} text={text} setText={setText} sending={sending} save={save}
        button={project ? t.edit.save : t.edit.create}
      />
    </Drawer>
  )
}
