// Errors of container tools: the engine, images, and what a container cannot hold.
import type { ErrorText } from './cordon-error.js'

export const CONTAINER_ERRORS = {
  'container-engine-missing': {
    when: 'No container engine listens at one of the usual sockets.',
    message: 'no container engine was found at {sockets}',
    agent: 'The container engine that this tool needs is not running.',
    fix: 'start one (Docker, or podman system service --time=0 unix:///PATH), and name its socket: DOCKER_HOST=unix:///PATH',
  },
  'container-engine-unreachable': {
    when: 'A container engine does not answer at its socket.',
    message: 'the container engine at {socket} does not answer: {problem}',
    agent: 'The container engine that this tool needs does not answer.',
    fix: 'start it, or check that this user may open its socket',
  },
  'container-engine-refused': {
    when: 'A container engine refused a request of Cordon.',
    message: 'the container engine refused {request}: {problem}',
    agent: 'The container of this tool could not be made.',
    fix: 'correct what it complains about; podman run --rm IMAGE, or docker run --rm IMAGE, shows whether the engine runs the image without Cordon',
  },
  'container-runtime-ignored': {
    when: 'The engine made a container with another OCI runtime than the tool names. Podman does so.',
    message: 'the engine would run the container with the OCI runtime {found}, not with {runtime}',
    agent: 'The container of this tool could not be made.',
    fix: 'start the engine with this runtime (podman --runtime {runtime} system service --time=0 unix:///PATH), or leave "runtime" out',
  },
  'container-mounts-incomparable': {
    when: 'Cordon cannot compare the mounts of a container with the granted paths of this host.',
    message: 'the mounts of the container cannot be compared with the granted paths: {problem}',
    agent: 'The container of this tool could not be checked.',
    fix: 'use an engine on this machine (podman system service --time=0, as root or as this user), or grant no paths',
  },
  'container-mount-unasked': {
    when: 'A container has a mount that Cordon did not ask for, and the tool could read it.',
    message: 'the container has the mount {path}, which Cordon did not ask for',
    agent: 'The container of this tool has a mount that is not granted.',
    fix: 'remove it from the settings of the engine (volumes in containers.conf, mounts.conf), or use another image',
  },
  'image-missing': {
    when: 'The engine does not have the image of a container tool. Cordon never downloads one.',
    message: 'the container engine at {socket} has no image {image}',
    agent: 'The container image of this tool is missing.',
    fix: 'podman pull {image}, or docker pull {image}; a name without a tag means :latest, and podman images lists what there is. Root and each user have images of their own',
  },
  'image-name-invalid': {
    when: 'The name of an image is none that an engine could have.',
    message: '{image} is not a valid name of an image',
    agent: 'The container image of this tool is missing.',
    fix: 'give NAME, NAME:TAG or NAME@sha256: and 64 hexadecimal digits; podman images --digests, or docker images --digests, lists them',
  },
  'image-not-the-digest': {
    when: 'The image of a container tool is another one than its digest says.',
    message: 'the image {image} is not the one that the engine has ({found})',
    agent: 'The container image of this tool is not the expected one.',
    fix: 'pull the image by its digest, or correct the digest',
  },
  'image-annotated': {
    when: 'An image has annotations that Podman hands to its runtime, which they could steer.',
    message: 'the image {image} has the annotation {annotation}, which could steer the container runtime',
    agent: 'The container image of this tool is refused.',
    fix: 'use an image without this annotation; those that begin with org.opencontainers.image. or io.buildah. pass',
  },
  'image-by-tag': {
    when: 'A container tool names its image by a tag, and its runtime demands digests.',
    message: 'the image {image} is named by a tag, which its owner can move to another image',
    agent: 'The container image of this tool is not pinned.',
    fix: 'name it by its digest: {pinned}',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
