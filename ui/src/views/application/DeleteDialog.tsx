/** Deleting is asked for twice: by the button, and by writing the name. */

import { Button, Modal, Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useNavigate } from 'react-router'

import { deleteApplication } from '../../api/applications'
import { tell, tellTrouble } from '../../parts/Feedback'
import { t } from '../../texts'
import type { PanelProps } from './Panels'
import { HOW, type How } from './ways'

export function DeleteDialog({ app, appKey, close }: PanelProps) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [how, setHow] = useState<How>('foreground')
  const [isBusy, setBusy] = useState(false)
  const remove = () => {
    setBusy(true)
    deleteApplication(appKey, HOW[how])
      .then(() => {
        tell(t.remove.done(app.metadata.name))
        void navigate('/applications')
      })
      .catch(tellTrouble)
      .finally(() => setBusy(false))
  }
  return (
    <Modal opened onClose={close} title={<strong>{t.remove.title(app.metadata.name)}</strong>}>
      <Stack gap="md">
        <p>{how === 'keep' ? t.remove.keepWords : t.remove.words(app.status?.resources?.length ?? 0)}</p>
        <Radio.Group value={how} onChange={(value) => setHow(value as How)} label={t.remove.how}>
          <Stack gap={6} mt={6}>
            {(Object.keys(HOW) as How[]).map((one) => <Radio key={one} size="xs" value={one} label={t.remove.ways[one]} />)}
          </Stack>
        </Radio.Group>
        <TextInput label={t.remove.confirm(app.metadata.name)} value={name} onChange={(event) => setName(event.target.value)} />
        <Button color="red" loading={isBusy} disabled={name !== app.metadata.name} onClick={remove}>{t.app.delete}</Button>
      </Stack>
    </Modal>
  )
}
