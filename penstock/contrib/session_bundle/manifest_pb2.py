"""The messages of an export: what its tensors are for."""

from penstock import proto

Signatures = proto.Signatures
TensorBinding = proto.TensorBinding
AssetFile = proto.AssetFile
Signature = proto.Signature
RegressionSignature = proto.RegressionSignature
ClassificationSignature = proto.ClassificationSignature
GenericSignature = proto.GenericSignature

__all__ = [
    "AssetFile",
    "ClassificationSignature",
    "GenericSignature",
    "RegressionSignature",
    "Signature",
    "Signatures",
    "TensorBinding",
]
